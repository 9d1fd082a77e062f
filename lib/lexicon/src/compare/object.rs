//! Comparing the fields of objects and the parameters of endpoints.

use std::collections::{HashMap, HashSet, VecDeque};

use json::Path;

use super::{Comparer, article};
use crate::document::{Object, Property};

impl<'c> Comparer<'c> {
    pub(super) fn objects(&mut self, old: &'c Object, new: &'c Object, path: &Path<'_>) {
        let properties = path.key("properties");
        let (before, now) = (by_name(old), by_name(new));
        let removed: Vec<&Property> =
            old.properties.iter().filter(|old| !now.contains_key(&*old.name)).collect();
        let added: Vec<&Property> =
            new.properties.iter().filter(|new| !before.contains_key(&*new.name)).collect();
        let renames = renames(&removed, &added);
        for property in &old.properties {
            let path = properties.key(&property.name);
            match now.get(property.name.as_str()) {
                Some(now) => self.property(property, now, &path),
                None => self.removed(property, renames.get(property.name.as_str()).copied(), &path),
            }
        }
        let renamed: HashSet<&str> = renames.values().map(|to| to.name.as_str()).collect();
        for property in added {
            self.added(property, renamed.contains(property.name.as_str()), &properties.key(&property.name));
        }
    }

    fn added(&mut self, property: &Property, renamed: bool, path: &Path<'_>) {
        if property.required {
            let message =
                format!("{:?} is new and required; what was written before lacks it", property.name);
            self.breaking(path, "required_added", message);
        } else if !renamed {
            let kind = article(property.schema.type_word());
            self.safe(path, "field_added", format!("{:?} is new and optional: {kind}", property.name));
        }
    }

    fn removed(&mut self, property: &Property, renamed_to: Option<&Property>, path: &Path<'_>) {
        let name = &property.name;
        match renamed_to {
            Some(now) => {
                let message =
                    format!("{name:?} was probably renamed to {:?}; readers look for the old name", now.name);
                self.breaking(path, "field_renamed", message);
            }
            None if property.required => {
                let message = format!("{name:?} is gone although it was required; readers count on it");
                self.breaking(path, "field_removed", message);
            }
            None => {
                let message = format!("{name:?} is gone; readers that used it lose it");
                self.breaking(path, "field_removed", message);
            }
        }
    }

    fn property(&mut self, old: &'c Property, new: &'c Property, path: &Path<'_>) {
        let name = &old.name;
        match (old.required, new.required) {
            (false, true) => {
                let message = format!("{name:?} became required; what was written before may lack it");
                self.breaking(path, "became_required", message);
            }
            (true, false) => {
                let message = format!("{name:?} became optional; readers of the old version count on it");
                self.breaking(path, "became_optional", message);
            }
            (true, true) | (false, false) => {}
        }
        match (old.nullable, new.nullable) {
            (true, false) => {
                let message = format!("{name:?} may no longer be null; what was written before may be");
                self.breaking(path, "nullable_removed", message);
            }
            (false, true) => {
                let message = format!("{name:?} may now be null; readers of the old version refuse that");
                self.breaking(path, "nullable_added", message);
            }
            (true, true) | (false, false) => {}
        }
        self.schemas(&old.schema, &new.schema, path);
    }
}

fn by_name(object: &Object) -> HashMap<&str, &Property> {
    object.properties.iter().map(|property| (property.name.as_str(), property)).collect()
}

/// Pairs removed fields, by name, with added ones that look the same: by the whole type first, then by its word.
fn renames<'o>(removed: &[&'o Property], added: &[&'o Property]) -> HashMap<&'o str, &'o Property> {
    let mut pairs: HashMap<&str, &Property> = HashMap::new();
    let mut used: HashSet<&str> = HashSet::new();
    let looks: [fn(&Property) -> String; 2] =
        [|property| format!("{:?}", property.schema), |property| property.schema.type_word().to_owned()];
    for look in looks {
        let mut candidates: HashMap<String, VecDeque<&Property>> = HashMap::new();
        for to in added.iter().filter(|to| !used.contains(to.name.as_str())) {
            candidates.entry(look(to)).or_default().push_back(to);
        }
        for from in removed {
            if pairs.contains_key(from.name.as_str()) {
                continue;
            }
            if let Some(to) = candidates.get_mut(&look(from)).and_then(VecDeque::pop_front) {
                pairs.insert(&from.name, to);
                used.insert(&to.name);
            }
        }
    }
    pairs
}
