import type { Change } from './cases.ts'

/** Schemas of a field, and where the API server refuses them. */
const FIELDS = `
{type: integer, default: 1} => accepted
{type: integer, default: "1"} => wrong-type default
{type: integer, default: 1.5} => wrong-type default
{type: integer, default: 1.0} => accepted
{type: number, default: 1} => accepted
{type: string, default: 1} => wrong-type default
{type: boolean, default: "true"} => wrong-type default
{type: integer, default: 3, enum: [1, 2]} => not-allowed default
{type: integer, default: 3, maximum: 2} => bad-format default
{type: string, default: abc, pattern: "^b"} => bad-format default
{type: string, default: abc, maxLength: 2} => bad-format default
{type: string, default: abc, format: ipv4} => bad-format default
{type: string, default: abc, format: unknownformat} => accepted
{type: string, default: null} => accepted
{type: string, nullable: true, default: null} => accepted
{type: object, default: {}} => accepted
{type: object, default: {a: b}} => unknown-field default.a
{type: object, properties: {a: {type: string}}, default: {a: b}} => accepted
{type: object, properties: {a: {type: string}}, default: {a: 1}} => wrong-type default.a
{type: object, properties: {a: {type: string}}, required: [a], default: {}} => missing-field default.a
{type: object, properties: {a: {type: string, default: x}}, required: [a], default: {}} => missing-field default.a
{type: object, properties: {a: {type: string}}, default: {b: c}} => unknown-field default.b
{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}, default: {b: c}} => accepted
{type: object, additionalProperties: {type: string}, default: {a: 1}} => wrong-type default.a
{type: object, additionalProperties: {type: string}, default: {a: b}} => accepted
{type: object, additionalProperties: true, default: {a: 1}} => accepted
{type: array, items: {type: string}, default: [a]} => accepted
{type: array, items: {type: string}, default: [1]} => wrong-type default.0
{type: array, items: {type: string}, default: [null]} => wrong-type default.0
{type: array, items: {type: object, properties: {a: {type: string, default: x}}}, default: [{}]} => accepted
{type: array, items: {type: string, default: x}} => accepted
{type: array, items: {type: string}, x-kubernetes-list-type: set, default: [a, a]} => accepted
{type: array, items: {type: object, properties: {a: {type: string}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], default: [{a: x},{a: x}]} => accepted
{type: object, additionalProperties: {type: string, default: x}} => accepted
{type: object, additionalProperties: {type: object, properties: {a: {type: string, default: x}}}} => accepted
{x-kubernetes-int-or-string: true, default: 1} => accepted
{x-kubernetes-int-or-string: true, default: 50%} => accepted
{x-kubernetes-int-or-string: true, default: 1.5} => accepted
{x-kubernetes-int-or-string: true, default: true} => accepted
{x-kubernetes-preserve-unknown-fields: true, default: anything} => accepted
{x-kubernetes-preserve-unknown-fields: true, default: {a: 1}} => accepted
{type: integer, allOf: [{default: 1}]} => forbidden-field allOf.0.default
{type: integer, not: {default: 1}} => forbidden-field not.default
{type: integer, anyOf: [{minimum: 5}], default: 1} => no-match default
{type: integer, oneOf: [{minimum: 0}, {minimum: 1}], default: 1} => no-match default
{type: integer, not: {minimum: 0}, default: 1} => no-match default
{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {}} => missing-field default.apiVersion
{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {apiVersion: v1, kind: A}} => accepted
{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}} => accepted
{type: object, nullable: true, properties: {a: {type: string, nullable: true, default: null}}, default: {a: null}} => accepted
{type: object, properties: {a: {type: string}}, default: {a: null}} => wrong-type default.a
{type: object, properties: {a: {type: string, default: y}}, default: {a: null}} => wrong-type default.a
{type: object, properties: {a: {type: object, properties: {b: {type: integer, default: x}}}}} => wrong-type properties.a.properties.b.default
{type: integer, format: int32, default: 4294967296} => bad-format default
{type: integer, default: 99999999999999999999} => wrong-type default
{type: integer, default: 1, x-kubernetes-validations: [{rule: self > 1}]} => rule default
{type: integer, default: 2, x-kubernetes-validations: [{rule: self > 1}]} => accepted
{type: object, properties: {a: {type: integer}}, default: {a: 1}, x-kubernetes-validations: [{rule: self.a > 1}]} => rule default
{type: object, properties: {a: {type: integer, default: 1}}, x-kubernetes-validations: [{rule: self.a > 1}]} => accepted
{type: integer, default: 1, x-kubernetes-validations: [{rule: self == oldSelf}]} => accepted
{type: integer, default: 1, x-kubernetes-validations: [{rule: self / 0 == 1}]} => rule default
{type: integer, multipleOf: 2, default: 3} => bad-format default
{type: array, items: {type: string}, minItems: 1, default: []} => bad-format default
{type: object, additionalProperties: {type: string}, minProperties: 1, default: {}} => bad-format default
{type: string, default: ""} => accepted
{type: string, enum: [a], default: ""} => not-allowed default
{type: string, enum: [a, a]} => accepted
{type: string, enum: [1]} => accepted
{type: integer, enum: [a]} => accepted
{type: integer, enum: []} => accepted
{type: string, minLength: 3, maxLength: 1} => accepted
{type: integer, minimum: 3, maximum: 1} => accepted
{type: string, minLength: -1} => accepted
{type: string, pattern: "("} => bad-format pattern
{type: string, pattern: "(?=a)"} => bad-format pattern
{type: string, pattern: "(?<n>a)"} => accepted
{type: string, format: "ipv4", pattern: "[z-a]"} => bad-format pattern
{type: object, minProperties: -1} => accepted
{type: integer, multipleOf: 0} => accepted
{type: integer, multipleOf: -2} => accepted
{type: integer, required: [a]} => accepted
{type: object, required: [a]} => accepted
{type: object, properties: {a: {type: string}}, required: [a, a]} => accepted
{type: string, properties: {a: {type: string}}} => accepted
{type: integer, items: {type: string}} => accepted
{type: string, nullable: true, enum: [a]} => accepted
{type: string, additionalProperties: {type: string}} => accepted
{type: array, items: {type: string}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => not-allowed x-kubernetes-list-map-keys.0
{type: array, items: {type: object}, x-kubernetes-list-type: set} => bad-format items.x-kubernetes-map-type
{type: array, items: {type: object, x-kubernetes-map-type: atomic}, x-kubernetes-list-type: set} => accepted
{type: array, items: {type: array, items: {type: string}}, x-kubernetes-list-type: set} => accepted
{type: array, items: {type: array, items: {type: string}, x-kubernetes-list-type: atomic}, x-kubernetes-list-type: set} => accepted
{type: array, items: {type: string, nullable: true}, x-kubernetes-list-type: set} => forbidden-field items.nullable
{type: string, x-kubernetes-list-type: atomic} => not-allowed type
{type: string, x-kubernetes-map-type: atomic} => not-allowed type
{type: object, x-kubernetes-map-type: other} => not-allowed x-kubernetes-map-type
{type: array, items: {type: object, properties: {a: {type: string, nullable: true}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => forbidden-field items.properties.a.nullable
{type: array, items: {type: object, properties: {a: {type: object}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => not-allowed items.properties.a.type
{type: array, items: {type: object, properties: {a: {type: string}}, required: [a], nullable: true}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => forbidden-field items.nullable
{type: array, items: {type: object, properties: {a: {type: string}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, a]} => duplicate x-kubernetes-list-map-keys.1
{type: object, x-kubernetes-embedded-resource: true} => missing-field properties
{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}} => accepted
{type: string, x-kubernetes-preserve-unknown-fields: true} => accepted
{type: object, x-kubernetes-preserve-unknown-fields: false} => bad-format x-kubernetes-preserve-unknown-fields
{type: integer, x-kubernetes-int-or-string: true} => accepted
{x-kubernetes-int-or-string: true, anyOf: [{type: string}, {type: integer}]} => forbidden-field anyOf.0.type
{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}]} => accepted
{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}, {type: string}]} => forbidden-field anyOf.0.type
{type: integer, allOf: [{anyOf: [{type: integer}]}]} => forbidden-field allOf.0.anyOf.0.type
{type: object, anyOf: [{required: [a]}]} => accepted
{type: object, anyOf: [{properties: {a: {type: string}}}]} => forbidden-field anyOf.0.properties.a.type
{type: object, anyOf: [{properties: {a: {minLength: 1}}}]} => accepted
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {minLength: 1}}}]} => accepted
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {nullable: true}}}]} => forbidden-field anyOf.0.properties.a.nullable
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {description: x}}}]} => forbidden-field anyOf.0.properties.a.description
{type: array, items: {type: string}, anyOf: [{items: {minLength: 1}}]} => accepted
{type: string, anyOf: [{items: {minLength: 1}}]} => accepted
{type: object, additionalProperties: {type: string}, anyOf: [{additionalProperties: {minLength: 1}}]} => forbidden-field anyOf.0.additionalProperties
{type: object, anyOf: [{not: {required: [a]}}]} => accepted
{type: object, anyOf: [{anyOf: [{type: string}]}]} => forbidden-field anyOf.0.anyOf.0.type
{type: string, example: 1} => accepted
{type: string, externalDocs: {url: a}} => accepted
{type: string, externalDocs: {url: "http://a"}} => accepted
{type: string, $schema: "x"} => forbidden-field $schema
{type: object, additionalProperties: false} => accepted
{type: object, properties: {a: {type: string}}, additionalProperties: false} => forbidden-field additionalProperties
{type: object, additionalItems: true} => forbidden-field additionalItems
{type: array, items: {type: string}, additionalItems: {type: string}} => forbidden-field additionalItems
{type: "null"} => not-allowed type
{type: object, properties: {"": {type: string}}} => accepted
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {b: {minLength: 1}}}]} => accepted
{type: object, x-kubernetes-preserve-unknown-fields: true, anyOf: [{properties: {a: {minLength: 1}}}]} => accepted
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {title: x}}}]} => forbidden-field anyOf.0.properties.a.title
{type: object, properties: {a: {type: string}}, anyOf: [{required: [b]}]} => accepted
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {metadata: {}}}]} => forbidden-field anyOf.0.properties.metadata
{type: object, properties: {a: {type: string}}, not: {anyOf: [{required: [a]}, {properties: {a: {type: string}}}]}} => forbidden-field not.anyOf.1.properties.a.type
{type: object, anyOf: [{x-kubernetes-validations: [{rule: "true"}]}]} => forbidden-field anyOf.0.x-kubernetes-validations
{type: object, allOf: [{x-kubernetes-validations: [{rule: "true"}]}]} => forbidden-field allOf.0.x-kubernetes-validations
{type: object, anyOf: [{x-kubernetes-int-or-string: true}]} => forbidden-field anyOf.0.x-kubernetes-int-or-string
{type: object, anyOf: [{x-kubernetes-map-type: atomic}]} => forbidden-field anyOf.0.x-kubernetes-map-type
{type: object, anyOf: [{externalDocs: {url: "http://a"}}]} => accepted
{type: object, anyOf: [{additionalProperties: false}]} => accepted
{type: object, anyOf: [{nullable: false}]} => accepted
{type: object, anyOf: [{pattern: "("}]} => bad-format anyOf.0.pattern
{type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {pattern: "("}}}]} => bad-format anyOf.0.properties.a.pattern
{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, {minimum: 1}]} => accepted
{x-kubernetes-int-or-string: true, allOf: [{minimum: 1},{anyOf: [{type: integer}, {type: string}]}]} => forbidden-field allOf.1.anyOf.0.type
{x-kubernetes-int-or-string: true, anyOf: [{type: integer, minimum: 1}, {type: string}]} => forbidden-field anyOf.0.type
{x-kubernetes-int-or-string: true, oneOf: [{type: integer}, {type: string}]} => forbidden-field oneOf.0.type
{type: string, anyOf: [{type: integer}, {type: string}]} => accepted
{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true, minimum: 1} => accepted
{x-kubernetes-preserve-unknown-fields: true, anyOf: [{type: integer}, {type: string}]} => accepted
{x-kubernetes-int-or-string: true, x-kubernetes-preserve-unknown-fields: true} => forbidden-field x-kubernetes-preserve-unknown-fields
{x-kubernetes-int-or-string: true, x-kubernetes-embedded-resource: true} => missing-field type
{type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: string}} => forbidden-field additionalProperties
{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: string}}} => not-allowed properties.metadata.type
{type: object, x-kubernetes-embedded-resource: true, properties: {kind: {x-kubernetes-preserve-unknown-fields: true}}} => missing-field properties.kind.type
{type: array, nullable: true, items: {type: string}} => accepted
{type: array, items: {type: object, properties: {a: {type: string}, b: {type: integer}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]} => bad-format x-kubernetes-list-map-keys.1
{type: array, items: {type: object, properties: {a: {type: array, items: {type: string}}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => not-allowed items.properties.a.type
{type: array, items: {type: object, properties: {a: {x-kubernetes-int-or-string: true}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => accepted
{type: array, items: {type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}, required: [a]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]} => accepted
{type: array, items: {x-kubernetes-preserve-unknown-fields: true}, x-kubernetes-list-type: set} => accepted
{type: array, items: {x-kubernetes-int-or-string: true}, x-kubernetes-list-type: set} => accepted
{type: array, items: {type: object, x-kubernetes-map-type: granular}, x-kubernetes-list-type: set} => bad-format items.x-kubernetes-map-type
{type: array, items: {type: array, items: {type: string}, x-kubernetes-list-type: set}, x-kubernetes-list-type: set} => bad-format items.x-kubernetes-list-type
{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-list-type: atomic} => missing-field type
{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-map-type: atomic} => missing-field type
{type: array, items: {type: string}, x-kubernetes-list-type: other} => not-allowed x-kubernetes-list-type
{type: array, items: {type: string}, x-kubernetes-list-type: ""} => not-allowed x-kubernetes-list-type
{type: string, x-kubernetes-list-type: ""} => not-allowed x-kubernetes-list-type
{x-kubernetes-preserve-unknown-fields: null, type: string} => accepted
{type: object, x-kubernetes-embedded-resource: false} => accepted
{x-kubernetes-int-or-string: false, type: string} => accepted
{type: string, enum: null} => accepted
{type: object, properties: {a: {type: string, default: 1}}, x-kubernetes-preserve-unknown-fields: true} => wrong-type properties.a.default
{type: object, additionalProperties: {type: string, default: 1}} => accepted
{type: object, additionalProperties: {type: object, properties: {a: {type: string, default: 1}}}} => accepted
{type: array, items: {type: string, default: 1}} => wrong-type items.default
{type: array, items: {type: object, properties: {a: {type: string, default: 1}}}} => wrong-type items.properties.a.default
{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {metadata: {type: object, properties: {name: {type: string, default: A_B}}}}} => accepted
{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string, default: A}}} => accepted
{type: string, default: {a: b}} => wrong-type default
{type: object, default: []} => wrong-type default
{type: array, items: {type: string}, default: {}} => wrong-type default
{type: string, default: "x", minLength: 3} => bad-format default
{type: number, default: "1"} => wrong-type default
{type: number, default: 0.5, minimum: 0.5, exclusiveMinimum: true} => bad-format default
{type: string, default: "2024-01-01", format: date} => accepted
{type: string, default: "notadate", format: date} => bad-format default
{type: string, default: "notadate", format: date-time} => bad-format default
{type: string, default: "x", format: byte} => bad-format default
{type: string, default: "1h", format: duration} => accepted
{type: string, default: "::1", format: ipv6} => accepted
{type: string, default: "a b", format: hostname} => bad-format default
{type: string, default: "notauuid", format: uuid} => bad-format default
{type: string, default: "http://a", format: uri} => accepted
{x-kubernetes-int-or-string: true, default: abc, pattern: "^[0-9]"} => bad-format default
{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], default: true} => wrong-type default
{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], default: 1.5} => wrong-type default
{type: object, properties: {a: {x-kubernetes-int-or-string: true}}, default: {a: true}} => accepted
`

/** Schemas of a whole object. */
const OBJECTS = `
{type: object, default: {}} => missing-field default.apiVersion
{type: object, default: {spec: {}}, properties: {spec: {type: object}}} => missing-field default.apiVersion
{type: object, properties: {metadata: {type: object, default: {}}}} => forbidden-field properties.metadata.default
{type: object, properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}} => forbidden-field properties.metadata.properties.name.default
{type: object, properties: {apiVersion: {type: string, default: x}}} => forbidden-field properties.apiVersion.default
{type: object, properties: {kind: {type: string, default: Thing}}} => forbidden-field properties.kind.default
{type: object, properties: {status: {type: object, default: {}}}} => accepted
{type: object, additionalProperties: {type: string}} => forbidden-field additionalProperties
{type: object, additionalProperties: true} => forbidden-field additionalProperties
{type: object, properties: {metadata: {type: object, description: x}}} => forbidden-field properties.metadata.description
{type: object, properties: {metadata: {type: object, nullable: true}}} => forbidden-field properties.metadata.nullable
{type: object, properties: {metadata: {type: object, required: [name]}}} => forbidden-field properties.metadata.required
{type: object, properties: {metadata: {type: object, x-kubernetes-preserve-unknown-fields: true}}} => forbidden-field properties.metadata.x-kubernetes-preserve-unknown-fields
{type: object, properties: {metadata: {type: object, properties: {name: {type: string, pattern: "^a"}}, maxProperties: 3}}} => forbidden-field properties.metadata.maxProperties
{type: object, properties: {metadata: {type: object, anyOf: [{required: [name]}]}}} => forbidden-field properties.metadata.anyOf
{type: object, properties: {metadata: {type: object, additionalProperties: true}}} => forbidden-field properties.metadata.additionalProperties
{type: object, properties: {metadata: {x-kubernetes-preserve-unknown-fields: true}}} => missing-field properties.metadata.type
{type: object, properties: {metadata: {type: object, x-kubernetes-validations: [{rule: "self.name == 'a'"}], properties: {name: {type: string}}}}} => forbidden-field properties.metadata.x-kubernetes-validations
{type: object, nullable: true} => forbidden-field nullable
{type: object, x-kubernetes-preserve-unknown-fields: true} => accepted
{type: object, x-kubernetes-embedded-resource: true} => missing-field properties
`

const FIELD = '{type: integer, default: 1, enum: [1, 2]}'
const OBJECT = `{type: object, properties: {spec: {type: object, properties: {size: ${FIELD}}}}}`
const PATH = 'spec.versions.0.schema.openAPIV3Schema'

const rowsOf = (text: string, replaced: string, path: string): Change[] =>
  text
    .trim()
    .split('\n')
    .map(line => {
      const [schema = '', answer = ''] = line.split(' => ')
      const problem = answer.replace(' ', ` ${path}.`)
      return [`schema ${schema}`, 'CustomResourceDefinition', replaced, schema, answer === 'accepted' ? '' : problem]
    })

/** Rows of what the API server asks of a schema: its form, its defaults, its patterns and its logic. */
export const SCHEMA_CHANGES: readonly Change[] = [
  ...rowsOf(FIELDS, FIELD, `${PATH}.properties.spec.properties.size`),
  ...rowsOf(OBJECTS, OBJECT, PATH),
]
