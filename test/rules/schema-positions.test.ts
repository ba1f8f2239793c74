import { describe, expect, test } from 'vitest'
import { evaluationOf, type Files } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

/** Where a finding must stand. */
const MARK = '§'
const VERSION = 'kubernetes: [{version: "1.36"}]\n'
const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              x-kubernetes-validations: [{rule: "self.size != 7", fieldPath: .size, message: seven is taken}]
              properties:
                size: {type: integer, maximum: 10}
                mode: {type: string, enum: [fast, slow]}
                address: {type: string, format: ipv4}
                wait: {type: string, pattern: "^[0-9]+s$"}
                parts:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items: {type: object, required: [name], properties: {name: {type: string}}}
`

const POD =
  'spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: b}]}}}'
const VALID: Readonly<Record<string, string>> = {
  ConfigMap: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\ndata: {a: b}\n',
  Service:
    'apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: apps}\nspec: {selector: {a: b}, ports: [{port: 80}]}\n',
  Deployment: `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, namespace: apps}\n${POD}\n`,
  ResourceQuota:
    'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: x, namespace: apps}\nspec: {hard: {pods: "1"}}\n',
  LimitRange:
    'apiVersion: v1\nkind: LimitRange\nmetadata: {name: x, namespace: apps}\nspec: {limits: [{type: Pod, max: {cpu: 1}}]}\n',
  Widget: 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, namespace: apps}\nspec: {size: 3}\n',
}

/** What is wrong, the kind, fields of the object with a mark where the finding stands, and a part of its message and edit. */
const CASES: readonly (readonly [what: string, kind: string, fields: string, says: string])[] = [
  ['a field that is not known', 'Deployment', `spec:\n  §replica: 3\n`, 'Rename it to replicas'],
  ['an unknown field of a custom kind', 'Widget', `spec:\n  size: 3\n  mod: §fast\n`, 'Rename it to mode'],
  ['a wrong type', 'Deployment', `spec:\n  replicas: §"3"\n`, 'Allowed: a whole number of 32 bits'],
  ['a number where text belongs', 'ConfigMap', `data:\n  a: §3\n`, 'Allowed: a string, in quotes'],
  ['a word that is not allowed', 'Service', `spec:\n  type: §clusterip\n`, 'ClusterIP'],
  ['a word of a custom kind', 'Widget', `spec:\n  size: 3\n  mode: §quick\n`, 'Allowed: fast, slow'],
  ['a port out of range', 'Service', `spec:\n  ports:\n    - port: §80000\n`, '65535'],
  ['a quantity', 'ResourceQuota', `spec:\n  hard:\n    cpu: §1 core\n`, 'quantity'],
  ['a quota that is not a whole number', 'ResourceQuota', `spec:\n  hard:\n    pods: §"1.5"\n`, 'spec.hard.pods'],
  ['a format of a custom kind', 'Widget', `spec:\n  size: 3\n  address: §nowhere\n`, 'spec.address'],
  ['a pattern of a custom kind', 'Widget', `spec:\n  size: 3\n  wait: §1h\n`, '^[0-9]+s$'],
  ['a maximum', 'Widget', `spec:\n  size: §11\n`, 'a number of at most 10'],
  ['a CEL rule with a path', 'Widget', `spec:\n  size: §7\n`, 'seven is taken'],
  [
    'a label',
    'ConfigMap',
    `metadata:\n  name: x\n  namespace: apps\n  labels:\n    team: §"a b"\n`,
    'metadata.labels.team',
  ],
  [
    'a key that stands twice in a keyed list',
    'Widget',
    `spec:\n  size: 3\n  parts:\n    - name: a\n    - §name: a\n`,
    'each name once',
  ],
]

function place(marked: string): string {
  const lines = marked.slice(0, marked.indexOf(MARK)).split('\n')
  return `${lines.length}:${lines.at(-1)!.length + 1}`
}

function findings(dev: Files) {
  const fleet = {
    '.github/bailiwick.yaml': VERSION,
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, widgets.yaml]\n',
    'tenants/widgets.yaml': DEFINITION,
  }
  const { violations, warnings } = evaluationOf(miniFleet({ dev, fleet })).verdict
  return [...violations, ...warnings]
    .filter(({ rule }) => rule === 'schema-mismatch')
    .map(({ origin, message, fix }) => ({
      place: `${origin.file}:${origin.line}:${origin.column}`,
      text: `${message} ${fix}`,
    }))
}

const textsAt = (found: ReturnType<typeof findings>, at: string) =>
  found.flatMap(one => (one.place === at ? [one.text] : [])).join('\n')

/** The object with other fields in place of its own of the same name. */
function withFields(valid: string, fields: string): string {
  const name = fields.slice(0, fields.indexOf(':'))
  const own = valid
    .split('\n')
    .filter(line => !line.startsWith(`${name}:`))
    .join('\n')
  return `${own}${fields}`
}

const head = (valid: string, fields: string) =>
  fields.startsWith('metadata') ? valid.split('\n').slice(0, 2).join('\n') : valid.split('\n').slice(0, 3).join('\n')

describe.each(CASES)('%s', (_what, kind, fields, says) => {
  const valid = VALID[kind]!

  test('stands where it is written', () => {
    const marked = withFields(valid, fields)
    const found = findings(withResource(marked.replace(MARK, '')))
    expect(found.map(one => one.place)).toContain(`deploy/extra.yaml:${place(marked)}`)
    expect(textsAt(found, `deploy/extra.yaml:${place(marked)}`)).toContain(says)
  })

  test('stands in the patch of the overlay that writes it', () => {
    const marked = `${head(valid, fields)}\n${fields}`
    const found = findings({
      'deploy/kustomization.yaml': 'resources: [../base]\npatches: [{path: patch.yaml}]\n',
      'deploy/patch.yaml': marked.replace(MARK, ''),
      'base/kustomization.yaml': 'resources: [object.yaml]\n',
      'base/object.yaml': valid,
    })
    expect(found.map(one => one.place)).toContain(`deploy/patch.yaml:${place(marked)}`)
    expect(textsAt(found, `deploy/patch.yaml:${place(marked)}`)).toContain(says)
  })
})

test('a required field that a patch removes is missing where the patch removes it', () => {
  const found = findings({
    'deploy/kustomization.yaml':
      'resources: [../base]\npatches:\n  - target: {kind: Widget}\n    patch: |-\n      - {op: remove, path: /spec/size}\n',
    'base/kustomization.yaml': 'resources: [object.yaml]\n',
    'base/object.yaml': VALID.Widget!,
  })
  expect(found.map(({ place: at }) => at)).toEqual(['deploy/kustomization.yaml:5:28'])
})

test('a removed and a deprecated version stand at apiVersion', () => {
  for (const [text, says] of [
    ['apiVersion: §policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x, namespace: apps}\n', 'policy/v1'],
    [
      'apiVersion: §resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: x, namespace: apps}\nspec: {}\n',
      'resource.k8s.io/v1',
    ],
  ] as const) {
    const [found] = findings(withResource(text.replace(MARK, '')))
    expect(found?.place).toBe(`deploy/extra.yaml:${place(text)}`)
    expect(found?.text).toContain(says)
  }
})

test('a missing field stands at the value around it', () => {
  const marked = VALID.Deployment!.replace('[{name: a, image: b}]', '[{name: a, image: b}, §{image: c}]')
  const found = findings(withResource(marked.replace(MARK, '')))
  expect(textsAt(found, `deploy/extra.yaml:${place(marked)}`)).toContain('containers.1.name" is missing')
})
