import type { Change } from './cases.ts'

const SIZE = '{type: integer, default: 1, enum: [1, 2]}'
const PROPERTIES = 'spec.versions.0.schema.openAPIV3Schema.properties'
const FIELD = `${PROPERTIES}.spec.properties.size`

/** Rows of what the API server asks of a CustomResourceDefinition and its schemas. */
export const DEFINITION_CHANGES: readonly Change[] = (
  [
    [
      'a definition under another name',
      'name: things.example.com',
      'name: thing.example.com',
      'bad-format metadata.name',
    ],
    ['a group without a dot', 'group: example.com', 'group: example', 'bad-format spec.group'],
    ['another scope', 'scope: Namespaced', 'scope: Local', 'not-allowed spec.scope'],
    ['one kind for object and list', 'listKind: ThingList', 'listKind: Thing', 'bad-format spec.names.listKind'],
    ['a kind with a space', 'kind: Thing,', 'kind: A Thing,', 'bad-format spec.names.kind'],
    [
      'a short name in capitals',
      'singular: thing',
      'singular: thing, shortNames: [T]',
      'bad-format spec.names.shortNames.0',
    ],
    ['a short name', 'singular: thing', 'singular: thing, shortNames: [t]', ''],
    ['no stored version', 'storage: true', 'storage: false', 'bad-format spec.versions'],
    ['a name of a version in capitals', 'name: v1', 'name: V1', 'bad-format spec.versions.0.name'],
    [
      'a webhook that is missing',
      'scope: Namespaced',
      'scope: Namespaced\n  conversion: {strategy: Webhook}',
      'missing-field spec.conversion.webhook',
    ],
    ['a conversion that does nothing', 'scope: Namespaced', 'scope: Namespaced\n  conversion: {strategy: None}', ''],
    [
      'a column of another type',
      'served: true',
      'served: true\n      additionalPrinterColumns: [{name: a, type: text, jsonPath: .spec}]',
      'not-allowed spec.versions.0.additionalPrinterColumns.0.type',
    ],
    [
      'a root that is a list',
      'openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 1, enum: [1, 2]}}}}}',
      'openAPIV3Schema: {type: array, items: {type: string}}',
      'not-allowed spec.versions.0.schema.openAPIV3Schema.type',
    ],
    ['a field without a type', SIZE, '{enum: [1]}', `missing-field ${FIELD}.type`],
    ['a field that is null', SIZE, 'null', `missing-field ${FIELD}.type`],
    ['a field of any type', SIZE, '{x-kubernetes-preserve-unknown-fields: true}', ''],
    ['a number or a text', SIZE, '{x-kubernetes-int-or-string: true}', ''],
    [
      'a number or a text, with alternatives',
      SIZE,
      '{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}',
      '',
    ],
    ['a number or a text, and a type', SIZE, '{type: string, x-kubernetes-int-or-string: true}', ''],
    ['an unknown type', SIZE, '{type: text}', `not-allowed ${FIELD}.type`],
    ['a list without items', SIZE, '{type: array}', `missing-field ${FIELD}.items`],
    ['items without a type', SIZE, '{type: array, items: {enum: [a]}}', `missing-field ${FIELD}.items.type`],
    ['several kinds of items', SIZE, '{type: array, items: [{type: string}]}', `forbidden-field ${FIELD}.items`],
    [
      'a type of items that is a list',
      SIZE,
      '{type: array, items: {type: [string]}}',
      `wrong-type ${FIELD}.items.type`,
    ],
    [
      'fields and others',
      SIZE,
      '{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}',
      `forbidden-field ${FIELD}.additionalProperties`,
    ],
    [
      'others without a type',
      SIZE,
      '{type: object, additionalProperties: {enum: [a]}}',
      `missing-field ${FIELD}.additionalProperties.type`,
    ],
    ['others of any type', SIZE, '{type: object, additionalProperties: true}', ''],
    ['a reference', SIZE, '{type: object, $ref: "#/a"}', `forbidden-field ${FIELD}.$ref`],
    [
      'unique items',
      SIZE,
      '{type: array, uniqueItems: true, items: {type: string}}',
      `forbidden-field ${FIELD}.uniqueItems`,
    ],
    ['a set', SIZE, '{type: array, x-kubernetes-list-type: set, items: {type: string}}', ''],
    [
      'a map without keys',
      SIZE,
      '{type: array, x-kubernetes-list-type: map, items: {type: object, properties: {a: {type: string}}, required: [a]}}',
      `missing-field ${FIELD}.x-kubernetes-list-map-keys`,
    ],
    [
      'a key that may be absent',
      SIZE,
      '{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string}}}}',
      `bad-format ${FIELD}.x-kubernetes-list-map-keys.0`,
    ],
    [
      'a key of no field',
      SIZE,
      '{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object, properties: {a: {type: string}}, required: [a]}}',
      `not-allowed ${FIELD}.x-kubernetes-list-map-keys.0`,
    ],
    [
      'a key with a default',
      SIZE,
      '{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string, default: b}}}}',
      '',
    ],
    [
      'keys of a set',
      SIZE,
      '{type: array, x-kubernetes-list-type: set, x-kubernetes-list-map-keys: [a], items: {type: string}}',
      `forbidden-field ${FIELD}.x-kubernetes-list-map-keys`,
    ],
    [
      'a default within alternatives',
      SIZE,
      '{type: integer, anyOf: [{default: 1}]}',
      `forbidden-field ${FIELD}.anyOf.0.default`,
    ],
    [
      'a type within alternatives',
      SIZE,
      '{type: integer, anyOf: [{type: integer}]}',
      `forbidden-field ${FIELD}.anyOf.0.type`,
    ],
    ['a bound within alternatives', SIZE, '{type: integer, anyOf: [{minimum: 1}]}', ''],
    [
      'metadata that is a text',
      'properties: {spec:',
      'properties: {metadata: {type: string}, spec:',
      `not-allowed ${PROPERTIES}.metadata.type`,
    ],
    [
      'labels in metadata',
      'properties: {spec:',
      'properties: {metadata: {type: object, properties: {labels: {type: object}}}, spec:',
      `forbidden-field ${PROPERTIES}.metadata.properties.labels`,
    ],
    [
      'names in metadata',
      'properties: {spec:',
      'properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 5}}}, spec:',
      '',
    ],
    [
      'a kind that is a number',
      'properties: {spec:',
      'properties: {kind: {type: integer}, spec:',
      `not-allowed ${PROPERTIES}.kind.type`,
    ],
    [
      'an embedded object that is a list',
      SIZE,
      '{type: array, x-kubernetes-embedded-resource: true, items: {type: string}}',
      `not-allowed ${FIELD}.type`,
    ],
  ] as const
).map(([what, from, to, problem]) => [what, 'CustomResourceDefinition', from, to, problem])
