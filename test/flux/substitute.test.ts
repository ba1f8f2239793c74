// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import { describe, expect, test } from 'vitest'
import type { Origin } from '../../src/base/origin.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { envsubst } from '../../src/flux/substitute/envsubst.ts'
import type { PostBuildFacts } from '../../src/flux/substitute/post-build.ts'
import {
  SubstitutionBudget,
  type Variable,
  type VariableSource,
  variablesOf,
} from '../../src/flux/substitute/variables.ts'
import { at, type MapNode, type Path } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const document = (path: string, text: string): MapNode =>
  parseDocuments({ repository: 'fleet', path }, Buffer.from(text))[0] as MapNode

function render(file: string, postBuild: string, facts: PostBuildFacts = {}) {
  const root = document(
    'k.yaml',
    `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x, namespace: apps}\nspec:\n  path: .\n  postBuild:\n${postBuild}`,
  )
  return renderKustomization({ repository: 'tenant', tree: treeOf({ 'a.yaml': file }) }, { root, trail: [] }, facts)
}

const configMap = (data: string, name = 'x') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${data}`

const show = ({ file, line, column, via }: Origin) =>
  [`${file}:${line}:${column}`, ...(via ?? []).map(step => `${step.step} ${step.file}:${step.line}`)].join(' < ')

describe('origins', () => {
  const file = configMap("  plain: stays\n  a: 'x ${A} ${B}'\n  ${A}: key\n  map: '${M}'\n")
  const settings = document('settings.yaml', configMap('  B: |\n    two\n'))
  const findSource = () => ({ variables: variablesOf(settings) })
  const [object] = render(
    file,
    '    substituteFrom: [{kind: ConfigMap, name: s}]\n    substitute:\n      A: one\n      M: "{k: [v]}"\n',
    {
      findSource,
    },
  )
  const shown = (path: Path) => show(at(object!.root, path)!.origin)

  test('what is not touched is the same value', () => expect(shown(['data', 'plain'])).toBe('a.yaml:6:10'))
  test('a text points at itself, through the values that it took', () =>
    expect(shown(['data', 'a'])).toBe('a.yaml:7:6 < substitution k.yaml:9 < substitution settings.yaml:6'))
  test('so does every part of a structure', () =>
    expect(shown(['data', 'map', 'k', 0])).toBe('a.yaml:9:8 < substitution k.yaml:10'))
  test('so does a key', () => {
    const data = at(object!.root, ['data'])
    const field = data?.type === 'map' ? data.fields.get('one') : undefined
    expect(show(field!.key)).toBe('a.yaml:8:3 < substitution k.yaml:9')
  })
})

describe('refusals', () => {
  test.each([
    ['an unknown field', '    substitutes: {A: b}\n', 'flux-invalid @k.yaml:7'],
    ['an unknown strategy', '    substituteStrategy: Never\n', 'flux-invalid @k.yaml:7'],
    ['a number', '    substitute:\n      A: 1\n', 'flux-invalid @k.yaml:8'],
    ['null', '    substitute:\n', 'flux-invalid @k.yaml:7'],
    ['a list', '    substitute: []\n', 'flux-invalid @k.yaml:7'],
    ['another kind', '    substituteFrom:\n    - {kind: Pod, name: x}\n', 'flux-invalid @k.yaml:8'],
    ['no name', '    substituteFrom:\n    - {kind: Secret}\n', 'flux-invalid @k.yaml:8'],
    [
      'optional as text',
      '    substituteFrom:\n    - {kind: Secret, name: x, optional: "true"}\n',
      'flux-invalid @k.yaml:8',
    ],
    ['what is not there', '    substituteFrom:\n    - {kind: Secret, name: x}\n', 'flux-missing-variable @k.yaml:8'],
    ['a name with a dash', '    substitute:\n      a-b: x\n', 'flux-invalid @k.yaml:8'],
    ['a missing variable', '    substitute: {B: x}\n', 'flux-missing-variable @a.yaml:6'],
  ])('%s', (_what, postBuild, expected) => {
    expect(refusalAt(() => render(configMap('  a: ${A}\n'), postBuild))).toBe(expected)
  })

  test.each([
    ['a quote that ends a text', 'a: ${A}', "x'y", 'flux-unsupported'],
    ['a control character', '${A}', '\\x07', 'flux-invalid'],
    ['bytes cut inside a character', '${A:0:1}', 'é', 'flux-unsupported'],
    ['a map in a map', '${A}', 'a: b', 'flux-invalid'],
    ['a glob that is not closed', '${A#[a}', 'ab', 'flux-unsupported'],
    ['a glob of one character beside others than ASCII', '${A#?}', 'é', 'flux-unsupported'],
    ['a merge key', '{"${A}": 1}', '<<', 'flux-unsupported'],
    ['a key that is there', '{"${A}": 1, b: 2}', 'b', 'flux-unsupported'],
    ['an infinite number', '${A}', '.inf', 'flux-invalid'],
    ['an alias', '${A}', '*a', 'flux-'],
  ])('%s', (_what, template, value, code) => {
    const text = template.startsWith('"') ? `'${template}'` : template.startsWith('{') ? template : `"${template}"`
    const file = configMap(`  a: ${text}\n`)
    const postBuild = `    substitute:\n      A: ${JSON.stringify(value).replace('\\\\x', '\\x')}\n`
    expect(refusalAt(() => render(file, postBuild))).toContain(code)
  })

  test('a secret value is in no message', () => {
    const file = configMap('  a: "${A}"\n')
    const step = () => render(file, '    substitute: {A: "{hunter2"}\n')
    expect(refusalAt(step)).toMatch(/^flux-/)
    expect(step).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }))
  })
})

describe('values that only the cluster has', () => {
  const origin = { repository: '', file: 'declared.yaml', line: 3, column: 1 }
  const holder = { kind: 'Secret', namespace: 'apps', name: 's', key: '' } as const
  const rest: VariableSource = {
    variables: new Map(),
    rest: { value: '', origin, hidden: 'opaque', holders: [holder] },
  }
  const opaque = (file: string) =>
    render(file, '    substituteFrom:\n    - {kind: Secret, name: s}\n', { findSource: () => rest })

  test('are marks in the object, and anything else is known', () => {
    const [object] = opaque(configMap("  a: 'x ${A}'\n  b: c\n"))
    expect(at(object!.root, ['data', 'a'])).toMatchObject({ value: 'x ${A}', opaque: [{ ...holder, key: 'A' }] })
    expect(show(at(object!.root, ['data', 'a'])!.origin)).toBe('a.yaml:6:6 < substitution declared.yaml:3')
    expect(at(object!.root, ['data', 'b'])).not.toHaveProperty('opaque')
  })

  test('stay marks in the data of a Secret', () => {
    const [object] = opaque('apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a: "${A}"}\n')
    expect(at(object!.root, ['data', 'a'])).toMatchObject({ opaque: [{ ...holder, key: 'A' }] })
  })

  test.each([
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "x-${A}"}\n',
    'apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: "x-${A}"}\nspec: {}\n',
    'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x, namespace: "${A}"}\nspec: {}\n',
    'apiVersion: capsule.clastix.io/v1beta2\nkind: TenantResource\nmetadata: {name: "x-${A}"}\nspec: {}\n',
    'apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: "x-${A}"}\nspec: {}\n',
    'apiVersion: example.com/v1\nkind: Unheard\nmetadata: {name: "x-${A}"}\nspec: {}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: "${A}"}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {a: "${A}"}}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {"${A}": b}\n',
    'apiVersion: v1\nkind: "${A}"\nmetadata: {name: x}\n',
    'apiVersion: v1\nkind: Thing\nmetadata: {name: x}\nspec: "${A}"\n',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {serviceAccountName: "${A}"}\n',
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: x}\nrules: [{verbs: ["${A}"]}]\n',
    'apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x}\nspec: {url: "https://${A}"}\n',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {metadata: {labels: {a: "${A}"}}}}\n',
    'apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: x}\nspec: {from: [{group: a, kind: B, namespace: "${A}"}]}\n',
    'apiVersion: example.com/v1\nkind: Bundle\nmetadata: {name: x}\nspec: {manifests: [{apiVersion: v1, kind: "${A}", metadata: {name: y}}]}\n',
    'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x}\nspec: {healthChecks: [{kind: "${A}", name: y}]}\n',
  ])('are refused in an identity: %s', file => {
    expect(refusalAt(() => opaque(file))).toMatch(/^unrendered-variable @a\.yaml/)
  })

  test('may be a key of a ConfigMap that says nothing but that', () => {
    const [object] = opaque('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {"${A}": "", b: c}\n')
    expect(at(object!.root, ['data', '${A}'])).toMatchObject({ value: '', opaque: [{ ...holder, key: 'A' }] })
    expect(at(object!.root, ['data', 'b'])).not.toHaveProperty('opaque')
    expect(refusalAt(() => variablesOf(object!.root).get('${A}'))).toBe('done')
  })

  test.each([
    ['data', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {"${A}": token}\n'],
    ['data', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {"${A}": "${B}"}\n'],
    ['data', 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {"${A}": ""}\n'],
    ['metadata', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, "${A}": ""}\n'],
    ['metadata.labels', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {"${A}": ""}}\n'],
    ['the object', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"${A}": ""\n'],
    ['data', 'apiVersion: example.com/v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {"${A}": ""}\n'],
  ])('are no key of %s that may be a field, or holds something: %s', (where, file) => {
    expect(() => opaque(file)).toThrow(`${where}: a key contains an unknown value, which only the cluster has`)
  })

  test.each([
    'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: "x-${A}"}\nspec: {secretName: "${A}"}\n',
    'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: "${A}", name: y}}\n',
    'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec: {values: {tempo: {endpoint: "${A}", url: "${A}", metadata: {labels: {a: "${A}"}}}}}\n',
    'apiVersion: opentelemetry.io/v1beta1\nkind: OpenTelemetryCollector\nmetadata: {name: x}\nspec: {config: {exporters: {otlp: {endpoint: "${A}", headers: {kind: "${A}"}}}}}\n',
    'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, annotations: {a: "${A}"}}\nspec: {url: "${A}", template: {labels: {a: "${A}"}}, dependsOn: ["${A}"]}\n',
    'apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: x}\nspec: {nfs: {server: "${A}", path: "/${A}"}}\n',
  ])('stay marks in what only looks like an identity: %s', file => {
    expect(opaque(file)).toHaveLength(1)
  })

  test('an encrypted Secret gives names, and values that are marks', () => {
    const secret = document(
      's.yaml',
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {A: ${Buffer.from('ENC[AES256_GCM,data:x]').toString('base64')}}\n`,
    )
    const holders = [{ kind: 'Secret', namespace: '', name: 's', key: 'A' }]
    expect(variablesOf(secret).get('A')).toMatchObject({ value: '', hidden: 'opaque', holders })
  })

  test.each([
    'A=ENC[x]\nsops_mac=ENC[y]',
    '{"sops":{"mac": "ENC[y]"}}',
    'a: ENC[x]\nsops:\n  mac: ENC[y]',
    '[sops]\nmac = ENC[y]',
  ])('so does one whose value is a file of SOPS: %s', text => {
    const data = `data: {A: ${Buffer.from(text).toString('base64')}}`
    const secret = document('s.yaml', `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n${data}\n`)
    expect(variablesOf(secret).get('A')).toMatchObject({ value: '', hidden: 'opaque' })
  })

  test('what stands in git beside encrypted values is known', () => {
    const file =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {A: "ENC[x]", B: b}\nsops: {mac: "ENC[y]"}\n'
    const variables = variablesOf(document('s.yaml', file))
    expect(variables.get('A')).toMatchObject({ hidden: 'opaque' })
    expect(variables.get('B')).toMatchObject({ value: 'b' })
    expect(variables.get('B')).not.toHaveProperty('hidden')
  })

  test('name everybody who holds a part, each once', () => {
    const known = { value: 'k', origin }
    const other = { kind: 'ConfigMap', namespace: 'apps', name: 'c', key: 'B' } as const
    const found: VariableSource = {
      variables: new Map<string, Variable>([
        ['A', { value: '', origin, hidden: 'opaque', holders: [holder] }],
        ['B', { value: '', origin, hidden: 'opaque', holders: [other] }],
        ['K', known],
      ]),
    }
    const file = configMap("  a: '${A} ${B:=${A}} ${K:=${B}} ${K/k/${A}}'\n  b: '${K:=${A}}'\n")
    const [object] = render(file, '    substituteFrom:\n    - {kind: Secret, name: s}\n', { findSource: () => found })
    expect(at(object!.root, ['data', 'a'])).toMatchObject({ opaque: [{ ...holder, key: 'A' }, other] })
    expect(at(object!.root, ['data', 'b'])).toMatchObject({ value: 'k' })
    expect(at(object!.root, ['data', 'b'])).not.toHaveProperty('opaque')
  })
})

describe('budgets', () => {
  const origin = { repository: '', file: 'x', line: 1, column: 1 }
  const run = (template: string, value: string) =>
    envsubst(template, {
      variables: new Map([['a', { value, origin }]]),
      strict: true,
      budget: new SubstitutionBudget(),
      origin,
    })

  test('a value is not multiplied without end', () => {
    const long = 'x'.repeat(100_000)
    expect(refusalAt(() => run('${a}'.repeat(1000), long))).toMatch(/^render-limits/)
    expect(refusalAt(() => run(`\${a//x/${long}}`, long))).toMatch(/^render-limits/)
  })
  test('globs and nesting end', () => {
    expect(refusalAt(() => run(`\${a##${'*é'.repeat(1000)}x}`, 'é'.repeat(5_000)))).toMatch(/^render-limits/)
    expect(() => run('${a:='.repeat(10_000) + '}'.repeat(10_000), '')).toThrow('nested deeper')
  })
  test('a glob of stars takes linear time', () => {
    const text = 'a'.repeat(20_000)
    expect(run(`\${a##${'*a'.repeat(30)}b}`, text).text).toBe(text)
  })
})
