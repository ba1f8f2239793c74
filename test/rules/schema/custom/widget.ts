import type { MapNode } from '../../../../src/kube/node.ts'
import { parseDocuments } from '../../../../src/kube/yaml/parse-documents.ts'

/** The one document of a text. */
export const rootOf = (text: string): MapNode =>
  parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))[0] as MapNode

/** A definition that uses each keyword of structural schemas. */
export const WIDGETS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            status: {type: object, properties: {ready: {type: boolean}}}
            spec:
              type: object
              required: [size, mode]
              properties:
                size: {type: integer, format: int32, minimum: 1, maximum: 10}
                mode: {type: string, enum: [fast, slow], default: slow}
                name: {type: string, pattern: '^[a-z]+(-[a-z]+)*$', maxLength: 8}
                port: {x-kubernetes-int-or-string: true}
                at: {type: string, format: date-time}
                note: {type: string, nullable: true}
                tags: {type: array, items: {type: string}, x-kubernetes-list-type: set, maxItems: 3}
                parts:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name, zone]
                  items:
                    type: object
                    required: [name]
                    properties: {name: {type: string}, zone: {type: string, default: a}}
                labels: {type: object, additionalProperties: {type: string}}
                open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}
                template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
                source:
                  type: object
                  properties: {git: {type: string}, oci: {type: string}}
                  oneOf: [{required: [git]}, {required: [oci]}]
                formats:
                  type: object
                  properties:
                    byte: {type: string, format: byte}
                    ipv4: {type: string, format: ipv4}
                    ipv6: {type: string, format: ipv6}
                    cidr: {type: string, format: cidr}
                    uuid4: {type: string, format: uuid4}
                    host: {type: string, format: hostname}
                    uri: {type: string, format: uri}
                    color: {type: string, format: hexcolor}
                    either: {type: string, anyOf: [{format: ipv4}, {format: ipv6}]}
                    one: {type: string, oneOf: [{format: ipv4}, {format: ipv6}, {format: cidr}]}
                    all: {type: string, allOf: [{format: hostname}, {maxLength: 5}]}
                    none: {type: string, not: {format: ipv6}}
                    other: {type: string, not: {format: unknown}}
                settings:
                  type: object
                  default: {level: debug}
                  required: [level]
                  properties: {level: {type: string, default: info}}
    - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

/** A valid object of it. */
export const WIDGET = `apiVersion: example.com/v1
kind: Widget
metadata: {name: w, labels: {a: b}}
spec:
  size: 3
  name: ab-c
  port: 80
  at: 2026-01-31T12:00:00Z
  note: null
  tags: [a, b]
  parts: [{name: x}, {name: x, zone: b}]
  labels: {a: b}
  open: {a: b, c: 1}
  template: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}
  source: {git: x}
`
