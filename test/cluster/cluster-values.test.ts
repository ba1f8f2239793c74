// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt } from '../../src/cluster/json.ts'
import { digestOfTexts } from '../../src/fleet/model/same-node.ts'
import type { Json } from '../../src/kube/node.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import {
  type ClusterUnderTest,
  create,
  createPlatformAccount,
  createTenant,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'
import { type Files, ValuedRun, valuedFleet } from './valued-fleet.ts'

const FROM = (kind: string, name: string, more = '') =>
  `, postBuild: {substituteFrom: [{kind: ${kind}, name: ${name}${more}}]}`
const shown = (data: string, name = 'shown', namespace = 'apps') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: ${data}\n`

const node = (approved: Approved, name: string) => approved.apply.find(one => one.name === name)
const reason = (approved: Approved, name: string) => approved.held.find(one => one.node.endsWith(`/${name}`))?.reason
const dataOf = (approved: Approved, name: string) => node(approved, name)?.objects.map(text => JSON.parse(text).data)

const sops = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/sops', name), 'utf8')
const swapped = (text: string) => {
  const [first, second] = text.match(/ENC\[[^\]]*type:str\]/g)!
  return text.replace(first!, '@').replace(second!, first!).replace('@', second!)
}

describe.skipIf(!haveAssets())('values of the cluster', () => {
  let under: ClusterUnderTest
  beforeAll(async () => {
    under = await startUnderTest()
    await createTenant(under.server, 'apps', 'dev-team')
    await createPlatformAccount(under.server)
  }, 60_000)
  afterAll(() => under?.stop())

  const put = async (
    kind: 'configmaps' | 'secrets',
    name: string,
    data: Record<string, string>,
    namespace = 'apps',
  ) => {
    const path = `/api/v1/namespaces/${namespace}/${kind}`
    await under.server.request('DELETE', `${path}/${name}`)
    await create(under.server, path, { metadata: { name }, data })
  }

  test('are put in, and what comes of it is what is applied', async () => {
    await put('configmaps', 'vars', { A: 'told' })
    const files = valuedFleet({ 'app/all.yaml': shown("{is: 'so ${A}'}") }, { app: FROM('ConfigMap', 'vars') })
    const approved = await new ValuedRun().open(under.client, files)
    expect(approved.held).toEqual([])
    expect(dataOf(approved, 'app')).toEqual([{ is: 'so told' }])
  })

  test('another key: the same is approved and held, and applied once more; nothing is made anew or deleted', async () => {
    await put('configmaps', 'keyed-vars', { A: 'told' })
    const path = '/api/v1/namespaces/apps/configmaps/keyed'
    const files = valuedFleet(
      { 'app/all.yaml': shown("{is: '${A}'}", 'keyed'), 'own/all.yaml': shown("{is: '${X}'}", 'own') },
      { app: FROM('ConfigMap', 'keyed-vars'), own: FROM('ConfigMap', 'nowhere') },
    )
    const [first, second] = await Promise.all(['one', 'two'].map(key => new ValuedRun(key).open(under.client, files)))
    expect(first!.held.map(({ node: key, reason: why }) => `${key} ${why}`)).toEqual([
      expect.stringMatching(/^staging\/flux-system\/own .*nowhere/),
    ])
    expect(node(second!, 'app')?.applyDigest).not.toBe(node(first!, 'app')?.applyDigest)
    expect(node(second!, 'app')?.objects).toEqual(node(first!, 'app')?.objects)
    expect(second!.apply.map(({ key }) => key)).toEqual(first!.apply.map(({ key }) => key))
    expect(second!.held).toEqual(first!.held)
    const apply = async (approved: Approved) => {
      const only = { ...approved, apply: approved.apply.filter(({ name }) => name === 'app') }
      const applied = await applyApproved(under.client, only, AbortSignal.timeout(60_000))
      const { body } = await under.server.request('GET', path)
      const actions = applied.find(({ key }) => key.endsWith('/app'))?.objects.map(({ action }) => action)
      return { actions, uid: jsonAt(body, 'metadata', 'uid'), version: jsonAt(body, 'metadata', 'resourceVersion') }
    }
    const made = await apply(first!)
    expect(made.actions).toEqual(['created'])
    expect(await apply(second!)).toEqual({ ...made, actions: ['unchanged'] })
    // back again, as with a replica that still has the former key
    expect(await apply(first!)).toEqual({ ...made, actions: ['unchanged'] })
  })

  /** What a value makes of `data` of a ConfigMap, or why it is held. */
  async function open(data: string, vars: Record<string, string>, spec = FROM('ConfigMap', 'vars')) {
    await put('configmaps', 'vars', vars)
    const approved = await new ValuedRun().open(
      under.client,
      valuedFleet({ 'app/all.yaml': shown(data) }, { app: spec }),
    )
    return reason(approved, 'app') ?? dataOf(approved, 'app')
  }

  test.each<[string, string, Record<string, string>, Record<string, string>]>([
    ['line breaks are removed', "{is: '${A}'}", { A: 'one\ntwo\n' }, { is: 'onetwo' }],
    ['functions', "{is: '${A^^} ${B:-none} ${A:0:2} ${#A}'}", { A: 'word' }, { is: 'WORD none wo 4' }],
    ['a default where the key is missing', "{is: '${B:=none}'}", { A: 'x' }, { is: 'none' }],
    ['an empty value takes the default', "{is: '${A:=none}'}", { A: '' }, { is: 'none' }],
    ['a text that looks like a variable stays', "{is: '${A}'}", { A: '${B}' }, { is: '${B}' }],
    ['a number in quotes stays text', `{is: "a\${A}"}`, { A: '1e3' }, { is: 'a1e3' }],
    ['words of YAML within a text', "{is: 'a ${A} b'}", { A: '*x, &y [z' }, { is: 'a *x, &y [z b' }],
  ])('as Flux does: %s', async (_, data, vars, is) => {
    expect(await open(data, vars)).toEqual([is])
  })

  test('later sources win over earlier ones, and the spec over all', async () => {
    await put('configmaps', 'more', { A: 'second', B: 'second', C: 'second' })
    const spec = `, postBuild: {substitute: {C: third}, substituteFrom: [{kind: ConfigMap, name: vars}, {kind: ConfigMap, name: more}]}`
    const is = await open("{is: '${A} ${B} ${C} ${D}'}", { A: 'first', D: 'first' }, spec)
    expect(is).toEqual([{ is: 'second second third first' }])
  })

  test('an object that switches it off stays as it is', async () => {
    const off = shown("{is: '${A}'}", 'off').replace(
      'namespace: apps',
      'namespace: apps, annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}',
    )
    await put('configmaps', 'vars', { A: 'told' })
    const files = valuedFleet(
      { 'app/all.yaml': `${off}---\n${shown("{is: '${A}'}")}` },
      { app: FROM('ConfigMap', 'vars') },
    )
    const approved = await new ValuedRun().open(under.client, files)
    expect(dataOf(approved, 'app')).toEqual([{ is: '${A}' }, { is: 'told' }])
    expect(node(approved, 'app')!.confidential).toEqual([1])
  })

  test('what is optional and missing counts as absent, and holds where it is not optional', async () => {
    const optional = FROM('ConfigMap', 'absent', ', optional: true')
    expect(await open("{is: '${A:=none}'}", {}, `, postBuild: {substitute: {B: b}, ${optional.slice(14)}`)).toEqual([
      { is: 'none' },
    ])
    expect(await open("{is: '${A}'}", {}, FROM('ConfigMap', 'absent'))).toBe(
      'ConfigMap apps/absent, which spec.postBuild.substituteFrom names: does not exist. Create it, or set optional: true.',
    )
    // a variable that nothing sets
    expect(await open("{is: '${A}'}", { B: 'b' })).toBe(
      'with the values that the cluster has, it cannot be evaluated (flux-missing-variable). Change the ConfigMap or Secret',
    )
  })

  const SECRET = 'hunter2'
  const HELD = 'held'
  const levels = [...'abcdefgh'].map((name, level, all) => {
    const below = level === 0 ? SECRET : `*${all[level - 1]}`
    return `&${name} [${Array(10).fill(below).join(', ')}]`
  })
  const BOMB = `[${levels.join(', ')}]`
  test.each<[string, string, Record<string, string>, Json]>([
    ['YAML of its own', "{is: '${A}'}", { A: `x', more: 'field` }, HELD],
    ['a line break and a field', "{is: 'a ${A}'}", { A: `\nmore: ${SECRET}` }, HELD],
    ['what ends a text in quotes', "{is: ': ${A}'}", { A: `', more: '${SECRET}` }, HELD],
    ['another document', "{is: 'a${A}'}", { A: '\r\n---\r\nkind: Secret' }, HELD],
    ['a map', "{is: '${A}'}", { A: `{a: ${SECRET}}` }, HELD],
    ['an anchor', "{is: '${A}'}", { A: `[&a [${SECRET}], *a]` }, HELD],
    ['a bomb of anchors', "{is: '${A}'}", { A: BOMB }, HELD],
    ['a merge key', "{is: '${A}'}", { A: `{<<: {a: ${SECRET}}}` }, HELD],
    ['a tag', "{is: '${A}'}", { A: `!!binary ${SECRET}` }, HELD],
    ['a number where text must be', "{is: '${A}'}", { A: '31415926535' }, HELD],
    ['a comment', "{is: '${A}'}", { A: `a #${SECRET}` }, { is: 'a' }],
    ['a key that is no variable', "{is: '${A}'}", { A: 'x', [`${SECRET}.pem`]: 'x' }, HELD],
    ['a control character', "{is: '${A}'}", { A: `\u0001${SECRET}` }, HELD],
  ])('%s in a value is put in as Flux does or held, and never quoted', async (_, data, vars, expected) => {
    const is = await open(data, vars)
    if (expected !== HELD) return expect(is).toEqual([expected])
    expect(is).toMatch(/^with the values that the cluster has, it (?:violates|cannot be evaluated)/)
    expect(is).not.toContain(SECRET)
  })

  test('a value of one MiB, many times, ends at the limit', async () => {
    const large = 'x'.repeat(900_000)
    const data = `{${Array.from({ length: 12 }, (_, index) => `k${index}: 'a\${A}'`).join(', ')}}`
    expect(await open(data, { A: large })).toContain('it cannot be evaluated (render-limits)')
  })

  test('a value never decides what an object is, where it is or who applies it', async () => {
    await put('configmaps', 'vars', { A: 'kube-system' })
    for (const text of [
      shown('{a: b}', 'shown', '"${A}"'),
      shown('{a: b}', '"${A}"'),
      shown('{a: b}').replace('kind: ConfigMap', 'kind: "${A}"'),
    ]) {
      const files = valuedFleet({ 'app/all.yaml': text }, { app: FROM('ConfigMap', 'vars') })
      const run = new ValuedRun()
      const approved = await run.open(under.client, files)
      expect(reason(approved, 'app')).toMatch(/unknown value|substitut/)
      // held as it is: nothing is read for it
      expect(run.asked).toHaveLength(1)
    }
  })

  test('values are read as the account of the Kustomization, in its own namespace', async () => {
    const weak = await createTenant(under.server, 'weak', 'dev-team')
    await under.server.request(
      'DELETE',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/weak/rolebindings/dev-team-reconciler',
    )
    expect(weak).toBe('system:serviceaccount:weak:dev-team')
    await put('configmaps', 'vars', { A: SECRET }, 'weak')
    const files = Object.fromEntries(
      Object.entries(valuedFleet({ 'app/all.yaml': shown("{is: '${A:=x}'}") }, { app: FROM('ConfigMap', 'vars') })).map(
        ([path, text]) => [
          path,
          text.replaceAll('namespace: apps', 'namespace: weak').replaceAll('name: apps', 'name: weak'),
        ],
      ),
    )
    const approved = await new ValuedRun().open(under.client, files)
    expect(reason(approved, 'app')).toContain(
      'User "system:serviceaccount:weak:dev-team" cannot get resource "configmaps"',
    )
    // what is optional is optional where it is missing, not where it may not be read
    const optional = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, text.replace('name: vars}', 'name: vars, optional: true}')]),
    )
    expect(reason(await new ValuedRun().open(under.client, optional), 'app')).toContain(
      'cannot get resource "configmaps"',
    )
  })

  test('of what is declared, the cluster says what it holds', async () => {
    await put('configmaps', 'vars', { A: 'live' })
    const declared = 'substituteFrom:\n- {kind: ConfigMap, namespace: apps, name: vars, values: {A: declared}}\n'
    const files = valuedFleet(
      { 'app/all.yaml': shown("{is: '${A}'}"), '.github/bailiwick.yaml': declared },
      { app: FROM('ConfigMap', 'vars') },
    )
    expect(dataOf(await new ValuedRun().open(under.client, files), 'app')).toEqual([{ is: 'live' }])
  })

  test('a child of what takes values is built with them too, and held with its parent', async () => {
    const child = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: child, namespace: flux-system}
spec: {interval: 1h, path: ./child, prune: true, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {B: 'so \${A}'}}}
`
    const files = valuedFleet(
      { 'own/all.yaml': child, 'child/all.yaml': shown("{is: '${B}'}") },
      { own: FROM('ConfigMap', 'vars') },
    )
    await put('configmaps', 'vars', { A: 'told' }, 'flux-system')
    const approved = await new ValuedRun().open(under.client, files)
    expect(dataOf(approved, 'child')).toEqual([{ is: 'so told' }])
    await under.server.request('DELETE', '/api/v1/namespaces/flux-system/configmaps/vars')
    const without = await new ValuedRun().open(under.client, files)
    expect(reason(without, 'own')).toContain('does not exist')
    expect(reason(without, 'child')).toContain('is held back')
    expect(node(without, 'flux-system')).toBeDefined()
  })

  test('digests change with the values, and tell nothing without the key', async () => {
    const files = valuedFleet({ 'app/all.yaml': shown("{is: '${A}'}") }, { app: FROM('ConfigMap', 'vars') })
    const run = new ValuedRun()
    const digests = []
    for (const A of ['one', 'two', 'one']) {
      await put('configmaps', 'vars', { A })
      digests.push(node(await run.open(under.client, files), 'app')!.applyDigest)
    }
    expect(digests[2]).toBe(digests[0])
    expect(digests[1]).not.toBe(digests[0])
    const plain = digestOfTexts([JSON.stringify({ apiVersion: 'v1' })])
    expect(digests).not.toContain(plain)
    const approved = await run.open(under.client, files)
    const { objects, digest } = node(approved, 'app')!
    expect(digest).not.toBe(digestOfTexts(objects))
    expect(node(approved, 'flux-system')!.digest).toBe(digestOfTexts(node(approved, 'flux-system')!.objects))
  })

  test('too many sources, and too many bytes, hold the Kustomization', async () => {
    const many = Array.from({ length: 33 }, (_, index) => `{kind: ConfigMap, name: m${index}, optional: true}`)
    expect(await open("{is: '${A}'}", {}, `, postBuild: {substituteFrom: [${many.join(', ')}]}`)).toContain(
      'names more than 32 ConfigMaps and Secrets',
    )
    for (const index of [0, 1, 2, 3, 4]) await put('configmaps', `large${index}`, { A: 'x'.repeat(900_000) })
    const large = [0, 1, 2, 3, 4].map(index => `{kind: ConfigMap, name: large${index}}`)
    expect(await open("{is: '${A}'}", {}, `, postBuild: {substituteFrom: [${large.join(', ')}]}`)).toContain(
      'takes more than 4194304 bytes of values',
    )
  })

  describe('Secrets that are generated from encrypted files', () => {
    const DECRYPTION = ', decryption: {provider: sops, secretRef: {name: sops-keys}}'
    const consumer = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: apps}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'ghcr.io/acme/web:1.0.0', envFrom: [{secretRef: {name: settings}}]}]}
`
    const files = (generator: string, more: Files = {}): Files => ({
      'app/kustomization.yaml': `namespace: apps\nresources: [web.yaml]\nsecretGenerator:\n- name: settings\n  ${generator}\n`,
      'app/web.yaml': consumer,
      ...Object.fromEntries(['env', 'json', 'bin'].map(kind => [`app/file.${kind}`, sops(`file.${kind}`)])),
      ...more,
    })
    const openFiles = (all: Files, spec = DECRYPTION) =>
      new ValuedRun().open(under.client, valuedFleet(all, { app: spec }))
    const secretOf = (approved: Approved) =>
      node(approved, 'app')
        ?.objects.map(text => JSON.parse(text))
        .find(({ kind }) => kind === 'Secret')

    beforeAll(async () => {
      await put('secrets', 'sops-keys', { 'age.agekey': Buffer.from(sops('age.txt')).toString('base64') })
    })

    test.each([
      ['files: [file.json]', 'file.json', 'json'],
      ['files: [.dockerconfigjson=file.json]', '.dockerconfigjson', 'json'],
      ['files: [token=file.bin]', 'token', 'bin'],
    ])('%s', async (generator, key, kind) => {
      const approved = await openFiles(files(generator))
      expect(reason(approved, 'app')).toBe(undefined)
      const { data, metadata } = secretOf(approved)
      expect(Buffer.from(data[key], 'base64').toString()).toBe(sops(`file.plain.${kind}`))
      expect(metadata.name).toMatch(/^settings-[a-z0-9]{10}$/)
      expect(JSON.stringify(node(approved, 'app')!.objects)).toContain(
        `\\"secretRef\\":{\\"name\\":\\"${metadata.name}\\"}`,
      )
      expect(node(approved, 'app')!.confidential).toHaveLength(2)
    })

    test('envs', async () => {
      const approved = await openFiles(files('envs: [file.env]'))
      const { data } = secretOf(approved)
      const plain = Object.entries<string>(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()])
      expect(Object.fromEntries(plain)).toMatchObject({ USER: 'admin', PASSWORD: 'p$$w=#d "x" ünï', EMPTY: '' })
    })

    test.each<[string, string, Files, string?]>([
      ['a format that nobody here writes', 'files: [file.yaml=file.json]', {}],
      ['one file as two formats', 'files: [file.json, token=file.json]', {}],
      ['no key for it', 'files: [file.json]', {}, DECRYPTION.replace('sops-keys', 'absent')],
      ['no Secret of keys', 'files: [file.json]', {}, ', decryption: {provider: sops}'],
      ['values that changed places', 'envs: [file.env]', { 'app/file.env': swapped(sops('file.env')) }],
      [
        'a value in clear',
        'envs: [file.env]',
        { 'app/file.env': sops('file.env').replace(/^USER=.*$/m, 'USER=x1y2z3-kk8') },
      ],
    ])('%s holds it', async (_, generator, more, spec = DECRYPTION) => {
      const approved = await openFiles(files(generator, more), spec)
      expect(reason(approved, 'app')).toMatchSnapshot()
      expect(node(approved, 'app')).toBe(undefined)
    })
  })
})
