// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { digestOfTexts } from '../../src/fleet/model/same-node.ts'
import { openObjects } from '../../workers/apply/apply-node.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import { sealDocument } from '../flux/sops/seal-document.ts'
import {
  type ClusterUnderTest,
  create,
  createPlatformAccount,
  createTenant,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'
import { ValuedRun, valuedFleet } from './valued-fleet.ts'

const DECRYPTION = ', decryption: {provider: sops, secretRef: {name: sops-keys}}'
const RECIPIENT = 'age1l44xcng8dqj32nlv6d930qvvrny05hglzcv9qpc7kxjc6902ma4qufys29'
const KEY = readFileSync(join(import.meta.dirname, '../fixtures/sops/age.txt'))
const SECRET = 'hunter2-x7'

/** A document whose fields with these names are encrypted. */
const sealed = async (text: string, regex: string) =>
  JSON.stringify(await sealDocument(parse(text), RECIPIENT, { regex }))
const reasonOf = (approved: Approved, name: string) =>
  approved.held.find(one => one.node.endsWith(`/${name}`))?.reason ??
  approved.apply.find(one => one.name === name)?.unopened

const secret = (data: string, more = '') =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: shown, namespace: apps${more}}\nstringData: ${data}\n`
const map = (data: string, more = '') => secret(data, more).replace('Secret', 'ConfigMap').replace('stringData', 'data')

const FORCE = 'kustomize.toolkit.fluxcd.io/force: enabled'
const kustomization = () => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: hidden, namespace: apps}
spec: {interval: 1h, path: ./other, prune: true, serviceAccountName: dev-team, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
`
const BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hidden, namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`
const INNER = `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "${SECRET}"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}, "subjects": []}`
const deployment = (fields: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: apps}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'ghcr.io/acme/web:1.0.0', ${fields}}]}
`
const release = (values: string) => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec:
  interval: 1h
  serviceAccountName: dev-team
  chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: web}}}
  values: {${values}}
`

describe.skipIf(!haveAssets())('encrypted objects', () => {
  let under: ClusterUnderTest
  beforeAll(async () => {
    under = await startUnderTest()
    await createTenant(under.server, 'apps', 'dev-team')
    await createPlatformAccount(under.server)
    for (const namespace of ['apps', 'flux-system']) {
      const data = { 'age.agekey': KEY.toString('base64') }
      await create(under.server, `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'sops-keys' }, data })
    }
  }, 60_000)
  afterAll(() => under?.stop())

  const openIn = (who: 'app' | 'own', files: Record<string, string>, spec = DECRYPTION) =>
    new ValuedRun().open(
      under.client,
      valuedFleet(
        Object.fromEntries(
          Object.entries(files).map(([name, text]) => [name.startsWith('/') ? name.slice(1) : `${who}/${name}`, text]),
        ),
        {
          [who]: spec,
        },
      ),
    )
  /** What is applied of one file, or why nothing is; nowhere in it a word of what is encrypted. */
  async function open(who: 'app' | 'own', file: string, spec?: string) {
    const approved = await openIn(who, { 'all.yaml': file }, spec)
    const node = approved.apply.find(one => one.name === who)
    const reason = reasonOf(approved, who)
    if (!file.includes(SECRET)) {
      expect(JSON.stringify([approved.held, approved.nodes, approved.evaluation])).not.toContain(SECRET)
    }
    if (reason !== undefined) return reason
    expect(node!.decryption?.seals ?? []).toEqual([])
    return node!.objects.map(text => JSON.parse(text))
  }

  test('a plain encrypted Secret is applied as it was evaluated, and no message may quote it', async () => {
    const file = await sealed(secret(`{password: ${SECRET}}`), '^stringData$')
    const approved = await openIn('app', { 'all.yaml': file })
    const node = approved.apply.find(one => one.name === 'app')!
    expect(approved.held).toEqual([])
    expect(JSON.parse(node.objects[0]!).data).toEqual({ password: Buffer.from(SECRET).toString('base64') })
    expect(node.objects[0]).not.toContain('sops')
    expect(node.confidential).toEqual([0])
  })

  const UNKNOWN =
    /^it could not be evaluated: .* takes a value that only the cluster has\. It is controlled by the tenant, who encrypted it there/
  const OTHER = 'with its encrypted values decrypted, it would apply other objects'
  const violates = (rule: string, object = '') =>
    `with its encrypted values decrypted, it violates ${rule}${object}. Change the encrypted file, or write the value as plain text to see more`

  test.each<[string, 'app' | 'own', string, string, string | RegExp]>([
    ['a switch of Flux', 'app', secret('{a: b}', `, annotations: {${FORCE}}`), '^annotations$', UNKNOWN],
    ['a privileged container', 'app', deployment('securityContext: {privileged: true}'), '^securityContext$', UNKNOWN],
    ['an image', 'app', deployment('tty: true'), '^image$', UNKNOWN],
    ['a namespace', 'own', map('{a: b}').replace('apps', 'kube-system'), '^namespace$', OTHER],
    [
      'a namespace of a tenant',
      'app',
      map('{a: b}').replace('apps', 'kube-system'),
      '^namespace$',
      /^it could not be evaluated/,
    ],
    ['a name', 'own', map('{a: b}'), '^name$', OTHER],
    ['a kind', 'own', map('{a: b}'), '^kind$', OTHER],
    ['a kind of Flux', 'own', kustomization(), '^kind$', OTHER],
    ['an apiVersion', 'own', kustomization(), '^apiVersion$', OTHER],
    [
      'a role for an account of a tenant',
      'own',
      BINDING,
      '^subjects$',
      violates('sa-foreign', ' in RoleBinding kube-system/hidden'),
    ],
    ['a chart’s objects', 'app', release(`extra: [${INNER}]`), '^extra$', violates('cluster-scoped-forbidden')],
    ['a chart’s objects, as text', 'app', release(`extra: ['${INNER}']`), '^extra$', violates('rbac-cluster-binding')],
  ])('what hides in one is refused: %s', async (_, who, text, regex, message) => {
    expect(await open(who, await sealed(text, regex))).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    )
  })

  test.each<[string, 'app' | 'own', string, string]>([
    [
      'annotations of the platform',
      'own',
      map(`{a: ${SECRET}}`, `, annotations: {note: ${SECRET}}`),
      '^(annotations|data)$',
    ],
    ['values of a ConfigMap', 'app', map(`{a: ${SECRET}}`), '^data$'],
    [
      'variables and arguments',
      'app',
      deployment(`env: [{name: A, value: ${SECRET}}], args: [--x, '${SECRET}']`),
      '^(value|args)$',
    ],
    [
      'values of a chart',
      'app',
      release(`password: ${SECRET}, replicas: 3, debug: false`),
      '^(password|replicas|debug)$',
    ],
  ])('what nothing is said against is applied: %s', async (_, who, text, regex) => {
    const plain = await open(who, text, '')
    expect(await open(who, await sealed(text, regex))).toEqual(plain)
  })

  test.each(['path', 'serviceAccountName'])('a Kustomization whose %s is encrypted is not followed', async field => {
    const files = { 'all.yaml': await sealed(kustomization(), `^${field}$`), '/other/all.yaml': map('{a: b}') }
    const approved = await openIn('own', files)
    expect(approved.apply.map(({ name }) => name)).not.toContain('hidden')
    expect(reasonOf(approved, 'hidden')).toBeDefined()
  })

  test('a value that was moved, or whose key is not there, fails its own Kustomization and nothing below it', async () => {
    const child = kustomization().replace('name: hidden', 'name: child')
    const [one, two] = [await sealed(secret('{a: x, b: y}'), '^stringData$'), await sealed(map('{a: b}'), '^note$')]
    const moved = one.replace(/("a":)("ENC[^"]*")(,"b":)("ENC[^"]*")/, '$1$4$3$2')
    expect(moved).not.toBe(one)
    for (const [file, spec, reason] of [
      [moved, DECRYPTION, 'stringData.a was not encrypted for this field'],
      [
        one,
        DECRYPTION.replace('sops-keys', 'absent'),
        'Secret flux-system/absent, which spec.decryption names: does not exist',
      ],
    ] as const) {
      const files = {
        'all.yaml': file,
        'plain.yaml': two,
        'child.yaml': child,
        '/other/all.yaml': map('{a: b}').replace('shown', 'other'),
      }
      const approved = await openIn('own', files, spec)
      const node = approved.apply.find(({ name }) => name === 'own')!
      expect(node.unopened).toContain(reason)
      expect(() => openObjects(node)).toThrow(reason)
      expect(approved.held).toEqual([])
      expect(approved.apply.map(({ name }) => name)).toContain('child')
    }
  })

  test('variables in what was decrypted are substituted, as Flux does', async () => {
    const spec = `${DECRYPTION}, postBuild: {substitute: {A: told}}`
    const [shown] = await open('app', await sealed(map("{is: 'so ${A}', at: '$${A}'}"), '^data$'), spec)
    expect(shown.data).toEqual({ is: 'so told', at: '${A}' })
    const off = map("{is: '${A}'}", ', annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}')
    expect((await open('app', await sealed(off, '^data$'), spec))[0].data).toEqual({ is: '${A}' })
  })

  test('what Flux is told not to decrypt stays as it is', async () => {
    const file = await sealed(map('{a: b}', ', annotations: {kustomize.toolkit.fluxcd.io/decrypt: Disabled}'), '^data$')
    const [shown] = await open('own', file)
    expect(shown.data.a).toMatch(/^ENC\[/)
  })

  test('one document of several, and of a List', async () => {
    const one = await sealed(map(`{a: ${SECRET}}`), '^data$')
    const [, shown] = await open('app', `${map('{b: c}', '').replace('shown', 'open')}---\n${one}\n`)
    expect(shown.data).toEqual({ a: SECRET })
    const list = `{"apiVersion": "v1", "kind": "List", "items": [${one}]}`
    expect((await open('app', list))[0].data).toEqual({ a: SECRET })
  })

  const patched = (patch: string, more: Record<string, string> = {}) => ({
    'kustomization.yaml': 'resources: [all.yaml]\npatches: [{path: patch.yaml}]\n',
    'all.yaml': map('{a: b}'),
    'patch.yaml': patch,
    ...more,
  })
  const patch = (data: string, more = '') => map(data, more)
  /** What is applied of a node with an encrypted patch, or why nothing is. */
  async function openPatched(who: 'app' | 'own', files: Record<string, string>, spec?: string) {
    const approved = await openIn(who, files, spec)
    expect(JSON.stringify([approved.held, approved.nodes, approved.evaluation])).not.toContain(SECRET)
    const node = approved.apply.find(one => one.name === who)
    return node ? node.objects.map(text => JSON.parse(text)) : reasonOf(approved, who)
  }
  /** As sops writes YAML. */
  const yaml = async (text: string, regex: string) => stringify(JSON.parse(await sealed(text, regex)), { lineWidth: 0 })

  test('an encrypted patch is never passed unseen, and is opened, evaluated and applied', async () => {
    const files = patched(await yaml(patch(`{a: ${SECRET}}`), '^data$'))
    const run = new ValuedRun()
    const all = Object.fromEntries(Object.entries(files).map(([name, text]) => [`app/${name}`, text]))
    const approved = await run.open(under.client, valuedFleet(all, { app: DECRYPTION }))
    expect(approved.evaluation.verdict.result).not.toBe('pass')
    expect(approved.evaluation.verdict.errors.map(({ message }) => message)).toEqual([
      'patch app/patch.yaml: encrypted, so what it changes is unknown',
    ])
    const [shown] = approved.apply.filter(({ name }) => name === 'app')
    expect(JSON.parse(shown!.objects[0]!).data).toEqual({ a: SECRET })
    expect(shown!.confidential).toEqual([0])
    expect(shown!.digest).not.toBe(digestOfTexts(shown!.objects))
  })

  test.each<[string, Record<string, string>, unknown]>([
    ['JSON', { 'patch.json': 'json' }, { a: SECRET }],
    ['YAML with comments', { 'patch.yaml': 'commented' }, { a: SECRET }],
  ])('a patch in another form is opened: %s', async (_, names, data) => {
    const [[name, form]] = Object.entries(names) as [[string, string]]
    const text = await yaml(patch(`{a: ${SECRET}}`), '^data$')
    const json = await sealDocument(parse(patch(`{a: ${SECRET}}`)), RECIPIENT, { regex: '^data$' })
    const file = form === 'json' ? JSON.stringify(json, null, '\t') : `# ${'x'}\n${text}`
    const files = patched('', {
      [name]: file,
      'kustomization.yaml': `resources: [all.yaml]\npatches: [{path: ${name}}]\n`,
    })
    const shown = await openPatched('app', files)
    expect(form === 'json' ? shown : shown![0].data).toEqual(form === 'json' ? expect.anything() : data)
  })

  const CLUSTER_ADMIN = 'roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}'
  const renames = (fields: string) =>
    `resources: [all.yaml]\npatches: [{path: patch.yaml, target: {kind: ConfigMap}, options: {${fields}}}]\n`
  test.each<[string, 'app' | 'own', string, Record<string, string>, string | RegExp]>([
    [
      'a ConfigMap becomes a RoleBinding',
      'own',
      `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: shown, namespace: apps}\n${CLUSTER_ADMIN}\n`,
      { 'kustomization.yaml': renames('allowKindChange: true, allowNameChange: true') },
      // the data of the ConfigMap stay in it
      violates('schema-mismatch'),
    ],
    ['an object is deleted', 'own', `${patch('{a: b}')}$patch: delete\n`, {}, OTHER],
    [
      'a privileged container of a tenant',
      'app',
      deployment('securityContext: {privileged: true}'),
      { 'all.yaml': deployment('tty: true') },
      /^with its encrypted values decrypted, it violates /,
    ],
    ['no patch at all', 'app', 'a: b\n', {}, /^with its encrypted values decrypted, it cannot be evaluated/],
  ])('what a patch hides is refused: %s', async (_, who, text, more, message) => {
    const reason = await openPatched(who, patched(await yaml(text, '^.*$'), more))
    expect(reason).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  test('a JSON6902 patch that is encrypted as a whole moves nothing to another namespace', async () => {
    const sealText = async (text: string) =>
      JSON.stringify(await sealDocument({ data: text }, RECIPIENT, { regex: '^.*$' }), null, '\t')
    const file = 'resources: [all.yaml]\npatches: [{path: patch.txt, target: {kind: ConfigMap}}]\n'
    const open = async (operation: object) =>
      openPatched(
        'own',
        patched('', { 'kustomization.yaml': file, 'patch.txt': await sealText(JSON.stringify([operation])) }),
      )
    expect(await open({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' })).toBe(OTHER)
    expect(await open({ op: 'replace', path: '/data/a', value: SECRET })).toMatchObject([{ data: { a: SECRET } }])
  })

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'a path that leads out',
      { 'kustomization.yaml': 'resources: [all.yaml]\npatches: [{path: ../../../patch.yaml}]\n' },
      /leaves the repository/,
    ],
    [
      'another error beside it',
      {
        'more.yaml': 'kind: [',
        'kustomization.yaml': 'resources: [all.yaml, more.yaml]\npatches: [{path: patch.yaml}]\n',
      },
      /^it could not be evaluated/,
    ],
    [
      'another that is not encrypted for its format',
      {
        'kustomization.yaml': 'resources: [all.yaml]\npatches: [{path: patch.yaml}, {path: other.json}]\n',
        'other.json': '{"mac":"ENC["}',
      },
      /^it could not be evaluated/,
    ],
  ])('nothing is opened for %s', async (_, more, message) => {
    const files = patched(await yaml(patch(`{a: ${SECRET}}`), '^data$'), more)
    expect(await openPatched('app', files)).toMatch(message)
  })

  test('without its key, an encrypted patch holds its Kustomization', async () => {
    const files = patched(await yaml(patch(`{a: ${SECRET}}`), '^data$'))
    const spec = DECRYPTION.replace('sops-keys', 'absent')
    expect(await openPatched('app', files, spec)).toContain('Secret apps/absent')
    expect(await openPatched('app', files, '')).toBeDefined()
  })

  test('a YAML file of a secretGenerator is opened as sops writes it', async () => {
    const kustomize =
      'secretGenerator: [{name: config, namespace: apps, files: [config.yaml]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n'
    const file = await yaml(`password: ${SECRET}\nlist: [{a: "yes"}]\n`, '^.*$')
    const [shown] = (await openPatched('app', { 'kustomization.yaml': kustomize, 'config.yaml': file })) as {
      data: Record<string, string>
    }[]
    const text = Buffer.from(shown!.data['config.yaml']!, 'base64').toString()
    expect(text).toBe(`password: ${SECRET}\nlist:\n    - a: "yes"\n`)
    const commented = await openPatched('app', { 'kustomization.yaml': kustomize, 'config.yaml': `# x\n${file}` })
    expect(commented).toMatch(/^it depends on values that only the cluster has, and names no /)
  })

  test('a text that is YAML stays a text', async () => {
    const texts = [
      '{a: b}',
      '*a',
      '<<: {x: y}',
      'a: 1\na: 2',
      '---\nkind: Secret',
      '!!binary x',
      'yes',
      '1e3',
      '\u0001\ufeff\u2028',
    ]
    const data = Object.fromEntries(texts.map((text, index) => [`k${index}`, text]))
    const document = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shown', namespace: 'apps' }, data }
    const file = JSON.stringify(await sealDocument(document, RECIPIENT, { regex: '^data$' }))
    expect((await open('own', file))[0].data).toEqual(data)
  })

  test('digests tell nothing of what was decrypted', async () => {
    const files = { 'all.yaml': await sealed(secret('{a: b}'), '^stringData$') }
    const [node] = (await openIn('app', files)).apply.filter(({ name }) => name === 'app')
    expect(node!.digest).not.toBe(digestOfTexts(node!.objects))
  })
})
