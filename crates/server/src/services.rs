//! Which variables a service wants. What is known of services is data, in `services.toml`; anything else is asked for by
//! name and value.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::Deserialize;

/// A service that is known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Service {
    /// Other names.
    #[serde(default)]
    also: Vec<String>,
    /// What it wants.
    pub(crate) variables: Vec<Variable>,
}

/// Something that a service wants.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is no secret.
    #[serde(default)]
    pub(crate) shown: bool,
    /// Whether most do without.
    #[serde(default)]
    pub(crate) optional: bool,
}

/// The service of this name, in any case and with or without marks between the words.
pub(crate) fn find(name: &str) -> Option<&'static Service> {
    static KNOWN: OnceLock<BTreeMap<String, Service>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        toml::from_str(include_str!("services.toml")).expect("the table is part of the program and tested")
    });
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_meant = |(known, service): &(&String, &Service)| **known == name || service.also.contains(&name);
    known.iter().find(is_meant).map(|(_, service)| service)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_service_is_known_by_its_names() {
        let names = |service: &str| -> Vec<&str> {
            let variables = find(service).into_iter().flat_map(|it| &it.variables);
            variables.filter(|it| !it.optional).map(|it| it.name.as_str()).collect()
        };
        assert_eq!(names("stripe"), ["STRIPE_SECRET_KEY"]);
        assert_eq!(names("Supabase"), ["SUPABASE_URL", "SUPABASE_ANON_KEY"]);
        assert_eq!(names("Hugging Face"), ["HF_TOKEN"]);
        assert_eq!(names("postgres"), names("PostgreSQL"));
        assert_eq!(find("acme"), None);
    }

    #[test]
    fn every_variable_has_a_name_that_can_be_one() {
        let table: std::collections::BTreeMap<String, super::Service> =
            toml::from_str(include_str!("services.toml")).unwrap();
        assert!(table.len() >= 25);
        for (name, service) in &table {
            assert!(service.variables.first().is_some_and(|first| !first.optional), "{name}");
            for variable in &service.variables {
                assert!(ostler_vault::Name::new(&variable.name).is_ok(), "{variable:?}");
            }
        }
    }
}
