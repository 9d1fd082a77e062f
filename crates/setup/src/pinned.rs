//! What packages must be like before they are installed: exact versions with sums, and no place from where they come.

use json::{Limits, Value};

use crate::node::Package;

impl Package {
    /// Says what is wrong with the manifest or the lock file.
    pub fn check(&self) -> Result<(), String> {
        let parse = |text| json::parse_str(text, Limits::DOCUMENT).map_err(|error| error.to_string());
        let (manifest, lock) = (parse(self.manifest)?, parse(self.lock)?);
        let wanted = manifest.get("dependencies").ok_or("the manifest needs nothing")?;
        exact(wanted)?;
        if self.lock.contains("://") || self.lock.contains("\"resolved\"") {
            return Err("the lock file names a place".to_owned());
        }
        summed(lock.get("packages").ok_or("the lock file is empty")?)?;
        let locked = lock.pointer("/packages//dependencies").map(Value::to_json);
        if locked != Some(wanted.to_json()) {
            return Err("the manifest and the lock file are not about the same packages".to_owned());
        }
        Ok(())
    }
}

fn exact(dependencies: &Value<'_>) -> Result<(), String> {
    for (name, version) in dependencies.as_object().ok_or("the dependencies are no object")?.iter() {
        let version = version.as_str().unwrap_or_default();
        if !version.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(format!("{name} {version} is not exact"));
        }
    }
    Ok(())
}

fn summed(packages: &Value<'_>) -> Result<(), String> {
    for (path, package) in packages.as_object().ok_or("the packages are no object")?.iter() {
        let sum = package.get("integrity").and_then(Value::as_str).unwrap_or_default();
        if !path.is_empty() && !sum.starts_with("sha512-") {
            return Err(format!("{path} has no sum"));
        }
    }
    Ok(())
}
