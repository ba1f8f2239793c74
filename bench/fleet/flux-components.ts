import { stringify } from 'yaml'
import type { Json } from '../../src/kube/node.ts'
import packed from '../../src/schema/custom/catalog.json' with { type: 'json' }
import type { PackedVersion } from '../../src/schema/custom/definition.ts'
import { unpack } from '../../src/schema/types-table.ts'

const GROUPS = [
  'source.toolkit.fluxcd.io',
  'kustomize.toolkit.fluxcd.io',
  'helm.toolkit.fluxcd.io',
  'notification.toolkit.fluxcd.io',
] as const

type Kinds = Readonly<Record<string, Readonly<Record<string, PackedVersion>>>>

let written: string | undefined

/**
 * As `flux install --export` writes it: Flux's own definitions, from the catalog of schemas, and the controllers. The catalog leaves
 * out descriptions and the schema of status, so each field has a description that brings the file to its real length.
 */
export function fluxComponents(): string {
  written ??= [
    ...GROUPS.flatMap(group =>
      Object.entries(unpack<Kinds>(packed.groups[group])).map(([kind, versions]) => definition(group, kind, versions)),
    ),
    ...['source', 'kustomize', 'helm', 'notification'].map(name => controller(`${name}-controller`)),
  ].join('---\n')
  return written
}

function definition(group: string, kind: string, versions: Kinds[string]): string {
  const singular = kind.toLowerCase()
  const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
  return stringify(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/part-of': 'flux' } },
      spec: {
        group,
        names: { kind, listKind: `${kind}List`, plural, singular },
        scope: 'Namespaced',
        versions: Object.entries(versions).map(([name, [schema, hasStatus]], at) => ({
          ...{ name, served: true, storage: at === 0 },
          schema: { openAPIV3Schema: described(schema) },
          ...(hasStatus ? { subresources: { status: {} } } : {}),
        })),
      },
    },
    { lineWidth: 0 },
  )
}

/** So often, because real descriptions, those of status and older versions make 600 kB together. */
const REPEATED = 4
const DESCRIPTION = `What the controller does with this field, at the length that such descriptions have,
and which of the other fields it goes together with, or takes the place of.
Where it is absent, what the controller does then.
`.repeat(REPEATED)

/** A schema whose fields have descriptions. */
function described(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(described)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (key === 'default' || key === 'enum' || key === 'required') return [key, value]
    if (key !== 'properties') return [key, described(value)]
    const fields = Object.entries(value as Record<string, Json>)
    return [key, Object.fromEntries(fields.map(([name, field]) => [name, withDescription(name, described(field))]))]
  })
  return Object.fromEntries(parts)
}

/** The API server allows no description of metadata. */
const withDescription = (name: string, field: Json): Json =>
  name === 'metadata' ? field : { description: DESCRIPTION, ...(field as Record<string, Json>) }

const controller = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: flux-system
  labels:
    app.kubernetes.io/part-of: flux
    control-plane: controller
spec:
  replicas: 1
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
        - name: manager
          image: ghcr.io/fluxcd/${name}:v1.7.0
          args:
            - --watch-all-namespaces=true
            - --log-level=info
      serviceAccountName: ${name}
`
