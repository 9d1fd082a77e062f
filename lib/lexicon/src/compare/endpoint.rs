//! Comparing queries, procedures and subscriptions.

use json::Path;

use super::{Comparer, only_in};
use crate::document::{Body, Endpoint, ErrorName, Object, Subscription};

impl<'c> Comparer<'c> {
    pub(super) fn endpoints(&mut self, old: &'c Endpoint, new: &'c Endpoint, path: &Path<'_>) {
        self.parameters(old.parameters.as_ref(), new.parameters.as_ref(), path);
        self.inputs(old.input.as_ref(), new.input.as_ref(), &path.key("input"));
        self.outputs(old.output.as_ref(), new.output.as_ref(), &path.key("output"));
        self.errors(&old.errors, &new.errors, path);
    }

    pub(super) fn subscriptions(&mut self, old: &'c Subscription, new: &'c Subscription, path: &Path<'_>) {
        self.parameters(old.parameters.as_ref(), new.parameters.as_ref(), path);
        let at = path.key("message");
        match (&old.message, &new.message) {
            (Some(old), Some(new)) => self.unions(old, new, &at.key("schema")),
            (Some(_), None) => {
                self.breaking(&at, "message_removed", "the messages are no longer described".to_owned());
            }
            (None, Some(_)) => self.safe(&at, "message_added", "the messages are now described".to_owned()),
            (None, None) => {}
        }
        self.errors(&old.errors, &new.errors, path);
    }

    /// No parameters and an empty list of them are the same to a caller.
    fn parameters(&mut self, old: Option<&'c Object>, new: Option<&'c Object>, path: &Path<'_>) {
        const NONE: &Object = &Object { properties: Vec::new() };
        self.objects(old.unwrap_or(NONE), new.unwrap_or(NONE), &path.key("parameters"));
    }

    fn inputs(&mut self, old: Option<&'c Body>, new: Option<&'c Body>, path: &Path<'_>) {
        match (old, new) {
            (Some(old), Some(new)) => self.bodies(old, new, path),
            (None, Some(_)) => {
                let message = "a body is now expected; callers of the old version send none".to_owned();
                self.breaking(path, "input_added", message);
            }
            (Some(_), None) => {
                let message = "no body is taken any more; what callers send is lost".to_owned();
                self.breaking(path, "input_removed", message);
            }
            (None, None) => {}
        }
    }

    fn outputs(&mut self, old: Option<&'c Body>, new: Option<&'c Body>, path: &Path<'_>) {
        match (old, new) {
            (Some(old), Some(new)) => self.bodies(old, new, path),
            (None, Some(_)) => {
                let message = "an answer is now given; callers of the old version ignore it".to_owned();
                self.safe(path, "output_added", message);
            }
            (Some(_), None) => {
                let message = "no answer is given any more; callers count on it".to_owned();
                self.breaking(path, "output_removed", message);
            }
            (None, None) => {}
        }
    }

    fn bodies(&mut self, old: &'c Body, new: &'c Body, path: &Path<'_>) {
        if old.encoding != new.encoding {
            let message = format!("the encoding changed from {:?} to {:?}", old.encoding, new.encoding);
            self.breaking(&path.key("encoding"), "encoding_changed", message);
        }
        let path = path.key("schema");
        match (&old.schema, &new.schema) {
            (Some(old), Some(new)) => self.schemas(old, new, &path),
            (None, Some(_)) => {
                self.breaking(&path, "schema_added", "the body was free and now has a schema".to_owned());
            }
            (Some(_), None) => {
                self.breaking(&path, "schema_removed", "the body had a schema and is now free".to_owned());
            }
            (None, None) => {}
        }
    }

    fn errors(&mut self, old: &[ErrorName], new: &[ErrorName], path: &Path<'_>) {
        let path = path.key("errors");
        for (index, error) in only_in(old, new) {
            self.safe(
                &path.index(index),
                "error_removed",
                format!("the error {:?} is no longer named", error.name),
            );
        }
        for (index, error) in only_in(new, old) {
            let message = format!("the error {:?} is new; callers treat it like any other", error.name);
            self.safe(&path.index(index), "error_added", message);
        }
    }
}
