//! Edits: what differs between two documents, and the same differences made in a third.

use json::Value;

/// One difference: a place, and what stands there now, or nothing if it was removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    steps: Vec<String>,
    now: Option<Value<'static>>,
}

/// Returns what must be done to one value to get another. Arrays are taken as a whole.
pub(crate) fn diff(old: &Value<'_>, new: &Value<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    walk(old, new, &mut Vec::new(), &mut edits);
    edits
}

/// Makes the same differences in another value, as far as its shape allows.
pub(crate) fn apply(value: &mut Value<'static>, edits: &[Edit]) {
    for edit in edits {
        apply_one(value, &edit.steps, edit.now.as_ref());
    }
}

impl Edit {
    /// Returns the place as a JSON Pointer.
    pub(crate) fn path(&self) -> String {
        let step = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        self.steps.iter().map(step).collect()
    }
}

fn walk(old: &Value<'_>, new: &Value<'_>, steps: &mut Vec<String>, edits: &mut Vec<Edit>) {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        if old != new {
            edits.push(Edit { steps: steps.clone(), now: Some(new.clone().into_owned()) });
        }
        return;
    };
    for (key, value) in before.iter() {
        steps.push(key.to_owned());
        match after.get(key) {
            Some(now) => walk(value, now, steps, edits),
            None => edits.push(Edit { steps: steps.clone(), now: None }),
        }
        steps.pop();
    }
    for (key, value) in after.iter().filter(|(key, _)| !before.contains_key(key)) {
        steps.push(key.to_owned());
        edits.push(Edit { steps: steps.clone(), now: Some(value.clone().into_owned()) });
        steps.pop();
    }
}

fn apply_one(value: &mut Value<'static>, steps: &[String], now: Option<&Value<'static>>) {
    let Some((first, rest)) = steps.split_first() else {
        if let Some(now) = now {
            *value = now.clone();
        }
        return;
    };
    let Some(object) = value.as_object_mut() else { return };
    match (rest.is_empty(), now) {
        (true, Some(now)) => drop(object.insert(first.clone(), now.clone())),
        (true, None) => drop(object.remove(first)),
        (false, _) => {
            if !object.contains_key(first) && now.is_some() {
                object.insert(first.clone(), json::Object::new());
            }
            if let Some(inner) = object.get_mut(first) {
                apply_one(inner, rest, now);
            }
        }
    }
}
