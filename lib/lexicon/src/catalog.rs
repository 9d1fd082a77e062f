//! A catalog: documents together, compiled so that checking follows numbers instead of names.

use std::collections::HashMap;

use crate::document::{
    self, Blob, Boolean, Def, Document, Integer, RecordKeyKind, Schema, StringSchema, TypeName,
};

/// Documents that may refer to each other, ready to check data.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    documents: Vec<Document>,
    pub(crate) nodes: Vec<Node>,
    /// Every definition that data can have, by its absolute name.
    types: HashMap<Box<str>, NodeId>,
    records: HashMap<Box<str>, RecordEntry>,
    endpoints: HashMap<Box<str>, EndpointEntry>,
}

/// Why documents make no catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// Two different documents have the same name.
    #[error("two different lexicons are named {0}")]
    Duplicate(String),
}

/// What data is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'t> {
    /// The record type of a lexicon.
    Record(&'t str),
    /// The parameters of an endpoint or a subscription, as a JSON object.
    Parameters(&'t str),
    /// The body of a request.
    Input(&'t str),
    /// The body of an answer.
    Output(&'t str),
    /// A message of a subscription.
    Message(&'t str),
    /// Any definition, by the name that stands in `$type`.
    Definition(&'t str),
}

/// The place of a compiled type in its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(u32);

/// A compiled type. References are resolved: what stands here is what they lead to.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Null,
    Boolean(Boolean),
    Integer(Box<Integer>),
    String(Box<StringSchema>),
    Bytes(document::Bounds),
    CidLink,
    Blob(Blob),
    Array { items: NodeId, length: document::Bounds },
    Object(Fields),
    Union { members: Box<[(TypeName, NodeId)]>, closed: bool },
    Unknown,
    Token(TypeName),
    Unresolved(TypeName),
}

/// The fields of an object, found by position first and by name if that fails.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    pub(crate) list: Box<[Field]>,
    pub(crate) required_count: usize,
    by_name: Box<[u32]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) node: NodeId,
    pub(crate) required: bool,
    pub(crate) nullable: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct RecordEntry {
    pub(crate) key: RecordKeyKind,
    pub(crate) node: NodeId,
}

#[derive(Clone, Debug, Default)]
struct EndpointEntry {
    parameters: Option<NodeId>,
    input: Option<NodeId>,
    output: Option<NodeId>,
    message: Option<NodeId>,
}

impl Catalog {
    /// Compiles documents; the same document twice counts once.
    pub fn new(documents: Vec<Document>) -> Result<Self, CatalogError> {
        let mut catalog = Catalog::default();
        let mut by_id: HashMap<String, usize> = HashMap::new();
        for document in documents {
            match by_id.get(document.id.as_str()) {
                Some(at) if catalog.documents[*at] == document => {}
                Some(_) => return Err(CatalogError::Duplicate(document.id.to_string())),
                None => {
                    by_id.insert(document.id.to_string(), catalog.documents.len());
                    catalog.documents.push(document);
                }
            }
        }
        catalog.compile();
        Ok(catalog)
    }

    /// Returns the documents.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns the document of that name.
    pub fn document(&self, id: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.id.as_str() == id)
    }

    /// Tells whether a lexicon of that name defines a record type.
    pub fn has_record(&self, id: &str) -> bool {
        self.records.contains_key(id)
    }

    /// Returns what the keys of a record type look like.
    pub fn record_key_kind(&self, id: &str) -> Option<&RecordKeyKind> {
        self.records.get(id).map(|record| &record.key)
    }

    /// Returns the references that lead to no known definition, each once, in order.
    pub fn unresolved(&self) -> Vec<&TypeName> {
        let mut names: Vec<&TypeName> = self.nodes.iter().filter_map(Node::as_unresolved).collect();
        names.sort();
        names.dedup();
        names
    }

    pub(crate) fn record(&self, id: &str) -> Option<&RecordEntry> {
        self.records.get(id)
    }

    pub(crate) fn node_of(&self, target: Target<'_>) -> Option<NodeId> {
        match target {
            Target::Record(id) => self.records.get(id).map(|record| record.node),
            Target::Parameters(id) => self.endpoints.get(id)?.parameters,
            Target::Input(id) => self.endpoints.get(id)?.input,
            Target::Output(id) => self.endpoints.get(id)?.output,
            Target::Message(id) => self.endpoints.get(id)?.message,
            Target::Definition(name) => self.types.get(name).copied(),
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Gives every definition its number first, so that references can be resolved in any order.
    fn compile(&mut self) {
        let documents = std::mem::take(&mut self.documents);
        for document in &documents {
            for (name, def) in document.defs.iter().filter(|(_, def)| has_data(def)) {
                let name = TypeName::new(document.id.as_str(), name);
                let placeholder = self.push(Node::Unresolved(name.clone()));
                self.types.insert(name.as_str().into(), placeholder);
                if let Def::Record(record) = def {
                    let entry = RecordEntry { key: record.key.clone(), node: placeholder };
                    self.records.insert(document.id.as_str().into(), entry);
                }
            }
        }
        for document in &documents {
            for (name, def) in &document.defs {
                self.compile_def(&TypeName::new(document.id.as_str(), name), def);
            }
        }
        self.documents = documents;
    }

    fn compile_def(&mut self, name: &TypeName, def: &Def) {
        let node = match def {
            Def::Record(record) => self.object_node(&record.object),
            Def::Schema(schema) => self.schema_node(schema),
            Def::Token => Node::Token(name.clone()),
            Def::Query(endpoint) | Def::Procedure(endpoint) => {
                let entry = EndpointEntry {
                    parameters: endpoint.parameters.as_ref().map(|object| self.object(object)),
                    input: self.body(endpoint.input.as_ref()),
                    output: self.body(endpoint.output.as_ref()),
                    message: None,
                };
                self.endpoints.insert(name.lexicon().into(), entry);
                return;
            }
            Def::Subscription(subscription) => {
                let parameters = subscription.parameters.as_ref().map(|object| self.object(object));
                let message = subscription.message.as_ref().map(|union| {
                    let node = self.union_node(union);
                    self.push(node)
                });
                let entry = EndpointEntry { parameters, message, ..EndpointEntry::default() };
                self.endpoints.insert(name.lexicon().into(), entry);
                return;
            }
            Def::PermissionSet(_) => return,
        };
        if let Some(at) = self.types.get(name.as_str()) {
            self.nodes[at.0 as usize] = node;
        }
    }

    fn push(&mut self, node: Node) -> NodeId {
        // Documents are far smaller than 4 GiB, and every node takes at least a byte of one.
        let id = u32::try_from(self.nodes.len()).expect("a catalog has fewer than 2^32 types");
        self.nodes.push(node);
        NodeId(id)
    }

    fn schema(&mut self, schema: &Schema) -> NodeId {
        if let Schema::Ref(name) = schema {
            return self.resolve(name);
        }
        let node = self.schema_node(schema);
        self.push(node)
    }

    fn schema_node(&mut self, schema: &Schema) -> Node {
        match schema {
            Schema::Null => Node::Null,
            Schema::Boolean(schema) => Node::Boolean(schema.clone()),
            Schema::Integer(schema) => Node::Integer(Box::new(schema.clone())),
            Schema::String(schema) => Node::String(schema.clone()),
            Schema::Bytes(length) => Node::Bytes(*length),
            Schema::CidLink => Node::CidLink,
            Schema::Blob(schema) => Node::Blob(schema.clone()),
            Schema::Array(array) => Node::Array { items: self.schema(&array.items), length: array.length },
            Schema::Object(object) => self.object_node(object),
            Schema::Ref(name) => Node::Unresolved(name.clone()),
            Schema::Union(union) => self.union_node(union),
            Schema::Unknown => Node::Unknown,
        }
    }

    fn object(&mut self, object: &document::Object) -> NodeId {
        let node = self.object_node(object);
        self.push(node)
    }

    fn object_node(&mut self, object: &document::Object) -> Node {
        let field = |property: &document::Property| Field {
            name: property.name.as_str().into(),
            node: self.schema(&property.schema),
            required: property.required,
            nullable: property.nullable,
        };
        Node::Object(Fields::new(object.properties.iter().map(field).collect()))
    }

    fn union_node(&mut self, union: &document::Union) -> Node {
        let member = |name: &TypeName| (name.clone(), self.resolve(name));
        let mut members: Vec<_> = union.refs.iter().map(member).collect();
        members.sort_by(|left, right| left.0.cmp(&right.0));
        Node::Union { members: members.into(), closed: union.closed }
    }

    fn body(&mut self, body: Option<&document::Body>) -> Option<NodeId> {
        body.and_then(|body| body.schema.as_ref()).map(|schema| self.schema(schema))
    }

    fn resolve(&mut self, name: &TypeName) -> NodeId {
        match self.types.get(name.as_str()) {
            Some(node) => *node,
            None => self.push(Node::Unresolved(name.clone())),
        }
    }
}

impl Node {
    fn as_unresolved(&self) -> Option<&TypeName> {
        if let Node::Unresolved(name) = self { Some(name) } else { None }
    }
}

impl Fields {
    fn new(list: Vec<Field>) -> Self {
        let required_count = list.iter().filter(|field| field.required).count();
        let mut by_name: Vec<u32> = (0..).take(list.len()).collect();
        by_name.sort_unstable_by(|left, right| list[*left as usize].name.cmp(&list[*right as usize].name));
        Fields { list: list.into(), required_count, by_name: by_name.into() }
    }

    /// Finds a field. Data mostly comes in the order of its schema, so the place after the last hit is tried
    /// first.
    pub(crate) fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.list.get(hint).is_some_and(|field| *field.name == *name) {
            return Some(hint);
        }
        let at = self.by_name.binary_search_by(|at| (*self.list[*at as usize].name).cmp(name)).ok()?;
        Some(self.by_name[at] as usize)
    }
}

fn has_data(def: &Def) -> bool {
    match def {
        Def::Record(_) | Def::Schema(_) | Def::Token => true,
        Def::Query(_) | Def::Procedure(_) | Def::Subscription(_) | Def::PermissionSet(_) => false,
    }
}
