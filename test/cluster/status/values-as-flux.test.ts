// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { connect } from '../../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { sealDocument } from '../../flux/sops/seal-document.ts'
import { binding, create, createPlatformAccount, createTenant } from '../cluster-under-test.ts'
import { type Files, ValuedRun, valuedFleet } from '../valued-fleet.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
  until,
} from './flux-world.ts'

type Data = Readonly<Record<string, string>>

interface ValueCase {
  readonly files: Files
  readonly spec: { readonly [field: string]: Json }
  readonly configMaps?: Readonly<Record<string, Data>>
  readonly secrets?: Readonly<Record<string, Data>>
  /** Both refuse it. */
  readonly refused?: true
}

const sops = (name: string) => readFileSync(join(import.meta.dirname, '../../fixtures/sops', name), 'utf8')
const map = (data: string, name = 'shown', more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: NS${more}}\ndata: ${data}\n`
const from = (...sources: string[]) => ({
  postBuild: {
    substituteFrom: sources.map(one => ({ kind: one.startsWith('s-') ? 'Secret' : 'ConfigMap', name: one })),
  },
})
const DECRYPTION = { decryption: { provider: 'sops', secretRef: { name: 's-keys' } } }
const KEYS = { 's-keys': { 'age.agekey': sops('age.txt') } }
const generator = (text: string) => ({
  'kustomization.yaml': `namespace: NS\nsecretGenerator:\n- name: made\n  ${text}\n`,
  ...Object.fromEntries(['env', 'json', 'bin'].map(kind => [`file.${kind}`, sops(`file.${kind}`)])),
})
const RECIPIENT = 'age1l44xcng8dqj32nlv6d930qvvrny05hglzcv9qpc7kxjc6902ma4qufys29'
const sealed = async (text: string, regex: string) =>
  JSON.stringify(await sealDocument(parse(text), RECIPIENT, { regex }))
const encrypted = async (text: string, regex: string, spec = {}): Promise<ValueCase> => ({
  files: { 'a.yaml': await sealed(text, regex) },
  spec: { ...DECRYPTION, ...spec },
  secrets: KEYS,
})
/** As sops writes it: a time without quotes is no text for it. */
const asYaml = (document: Json) =>
  stringify(document, { lineWidth: 0 }).replace(/lastmodified: (\S+)/, 'lastmodified: "$1"')

/** A ConfigMap with patches of which each adds a value that is encrypted in it. */
const patched = async (patches: Readonly<Record<string, 'yaml' | 'json'>>): Promise<ValueCase> => {
  const names = Object.keys(patches)
  const files = names.map(async (name, index) => {
    const patch = JSON.parse(await sealed(map(`{k${index}: "yes", n${index}: 'a: b'}`), '^data$'))
    const text = patches[name] === 'json' ? JSON.stringify(patch, null, '\t') : asYaml(patch)
    return [name, text] as const
  })
  const list = names.map(path => `{path: ${path}}`).join(', ')
  return {
    files: {
      'base/kustomization.yaml': `resources: [a.yaml]\npatches: [${list}]\n`,
      'base/a.yaml': map('{a: b}'),
      ...Object.fromEntries((await Promise.all(files)).map(([name, text]) => [`base/${name}`, text])),
      'kustomization.yaml': 'resources: [base]\n',
    },
    spec: DECRYPTION,
    secrets: KEYS,
  }
}
const made = (text: string): ValueCase => ({ files: generator(text), spec: DECRYPTION, secrets: KEYS })

const CASES: Readonly<Record<string, ValueCase>> = {
  'order of sources, and the spec over all': {
    files: { 'a.yaml': map("{is: '${A} ${B} ${C} ${D}'}") },
    spec: { postBuild: { ...from('one', 'two').postBuild, substitute: { C: 'spec' } } },
    configMaps: { one: { A: '1', B: '1', C: '1', D: '1' }, two: { B: '2', C: '2' } },
  },
  functions: {
    files: { 'a.yaml': map("{a: '${A^^}', b: '${B:=none}', c: '${A:0:2}', d: 'x${#A}', e: '${A/or/OR}', f: '$${A}'}") },
    spec: from('one'),
    configMaps: { one: { A: 'words' } },
  },
  'several lines': {
    files: { 'a.yaml': map("{is: 'a ${A}'}") },
    spec: from('one'),
    configMaps: { one: { A: 'x\ny\n' } },
  },
  'a text of several lines': {
    files: { 'a.yaml': map('\n  is: |\n    first ${A}\n    second ${A}') },
    spec: from('one'),
    configMaps: { one: { A: 'x: {y}' } },
  },
  'what looks like a variable': {
    files: { 'a.yaml': map("{is: 'a ${A}'}") },
    spec: from('one'),
    configMaps: { one: { A: '${B}' } },
  },
  'a long value': {
    files: { 'a.yaml': map("{is: 'a ${A} b ${A}'}") },
    spec: from('one'),
    configMaps: { one: { A: 'word '.repeat(100) } },
  },
  'switched off on one': {
    files: {
      'a.yaml': map("{is: '${A}'}", 'off', ', labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}'),
      'b.yaml': map("{is: 'a${A}'}"),
    },
    spec: from('one'),
    configMaps: { one: { A: 'x' } },
  },
  'a missing source': { files: { 'a.yaml': map("{is: '${A:=x}'}") }, spec: from('absent'), refused: true },
  'an optional source that is missing': {
    files: { 'a.yaml': map("{is: '${A:=x}${B}'}") },
    spec: {
      postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'absent', optional: true }], substitute: { B: 'b' } },
    },
  },
  'a variable that nothing sets': {
    files: { 'a.yaml': map("{is: '${A}'}") },
    spec: from('one'),
    configMaps: { one: { B: 'b' } },
    refused: true,
  },
  'a key that is no variable': {
    files: { 'a.yaml': map("{is: '${A}'}") },
    spec: from('one'),
    configMaps: { one: { A: 'a', 'a.b': 'b' } },
    refused: true,
  },
  'generated from JSON': made('files: [file.json]'),
  'generated from JSON for a registry': made('type: Opaque\n  files: [.dockerconfigjson=file.json]'),
  'generated from binary': made('files: [token=file.bin, again=file.bin]'),
  'generated from an env file': made('envs: [file.env]'),
  'an encrypted Secret': await encrypted(
    'apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: NS}\ndata: {b: \'eA==\'}\nstringData: {a: "x\\ny: 1"}\n',
    '^(data|stringData)$',
  ),
  'an encrypted ConfigMap, and variables in it': await encrypted(
    map("{a: 'so ${A}', b: '$${A}', c: 'yes', d: 'a${B}'}"),
    '^data$',
    { postBuild: { substitute: { A: 'told', B: '1' } } },
  ),
  'encrypted text of every kind': await encrypted(
    map('{a: "*x", b: "1e3", c: "<<: {}", d: "\\u2028\\ufeffé", e: " lead", f: "t\\t", g: "a: b\\n---\\n"}'),
    '^data$',
  ),
  'an encrypted annotation': await encrypted(
    map('{a: b}', 'shown', ', annotations: {description: x}'),
    '^description$',
  ),
  'switched off decryption': await encrypted(
    map('{a: b}', 'shown', ', annotations: {kustomize.toolkit.fluxcd.io/decrypt: Disabled}'),
    '^nothing$',
  ),
  'less encrypted than its expression says': {
    files: { 'a.yaml': (await sealed(map('{a: b}'), '^data$')).replace('^data$', '^(data|kind)$') },
    spec: DECRYPTION,
    secrets: KEYS,
    refused: true,
  },
  'more encrypted than its expression says': {
    files: {
      'a.yaml': (await sealed(map('{a: b}', 'shown', ', labels: {a: b}'), '^data$')).replace('^data$', '^labels$'),
    },
    spec: DECRYPTION,
    secrets: KEYS,
    refused: true,
  },
  'several documents': {
    files: { 'a.yaml': `${map('{a: b}', 'open')}---\n${await sealed(map('{a: c}'), '^data$')}\n` },
    spec: DECRYPTION,
    secrets: KEYS,
  },
  'generated with options': made('files: [file.json]\n  options: {labels: {team: a}, immutable: true}'),
  'generated with options that are none': { ...made('files: [file.json]\n  options: {labels: {x: y}}'), refused: true },
  'generated from YAML': {
    files: {
      ...generator('files: [config.yaml]'),
      'config.yaml': asYaml(
        JSON.parse(await sealed('{password: x, list: [{a: "yes", b: "one\\ntwo"}], port: 80, on: true}', '^.*$')),
      ),
    },
    spec: DECRYPTION,
    secrets: KEYS,
  },
  'an encrypted patch': await patched({ 'patch.yaml': 'yaml' }),
  'an encrypted patch in JSON': await patched({ 'patch.json': 'json' }),
  'encrypted patches, one after the other': await patched({ 'patch.yaml': 'yaml', 'patch.yml': 'yaml' }),
  'an encrypted patch without its key': {
    ...(await patched({ 'patch.yaml': 'yaml' })),
    secrets: { 's-keys': { 'a.agekey': sops('age-pq.txt') } },
    refused: true,
  },
  'a ConfigMap from an encrypted file': {
    files: {
      'kustomization.yaml':
        'namespace: NS\nconfigMapGenerator: [{name: shown, files: [file.json]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n',
      'file.json': sops('file.json'),
    },
    spec: DECRYPTION,
    secrets: KEYS,
  },
  'generated, and values besides': {
    files: {
      ...generator('files: [file.json]'),
      'a.yaml': map("{is: 'a${A}'}"),
      'kustomization.yaml': `${generator('files: [file.json]')['kustomization.yaml']}resources: [a.yaml]\n`,
    },
    spec: { ...DECRYPTION, ...from('one') },
    configMaps: { one: { A: 'x' } },
    secrets: KEYS,
  },
  'generated with another key': {
    files: generator('files: [file.json]'),
    spec: DECRYPTION,
    secrets: { 's-keys': { 'a.agekey': sops('age-pq.txt') } },
    refused: true,
  },
}
const NAMES = Object.keys(CASES)
/** Not where it is a part of what is encrypted. */
const PLACE = /(?<![\w+/=])NS(?![\w+/=])/g
const within = <T>(value: T, namespace: string): T => JSON.parse(JSON.stringify(value).replace(PLACE, namespace))

describe.skipIf(missing !== undefined)('values and encrypted files beside the real kustomize-controller', () => {
  let world: FluxWorld
  let client: ClusterClient
  const theirs = new Map<string, Json>()

  const list = async (path: string) => itemsAt((await world.cluster.request('GET', path)).body, 'items')

  async function prepare(namespace: string, { configMaps = {}, secrets = {} }: ValueCase): Promise<void> {
    await createTenant(world.cluster, namespace, 'dev-team')
    for (const [name, data] of Object.entries(configMaps))
      await create(world.cluster, `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name }, data })
    for (const [name, stringData] of Object.entries(secrets))
      await create(world.cluster, `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name }, stringData })
  }

  /** What Flux applied, by kind and name; undefined: it refused to. */
  async function fluxDoes(namespace: string, { files, spec }: ValueCase): Promise<Json> {
    const sourceRef = { kind: 'GitRepository', name: 'app' }
    const all = { interval: '1h', retryInterval: '1h', prune: true, serviceAccountName: 'dev-team', sourceRef, ...spec }
    await put(world.cluster, kustomizations(namespace), {
      ...KUSTOMIZATION,
      metadata: { name: 'app', namespace },
      spec: all,
    })
    await world.artifacts.put({ namespace, name: 'app' }, `main@sha1:${'a'.repeat(40)}`, within(files, namespace))
    const done = await until(world.cluster, `${kustomizations(namespace)}/app`, one => {
      const ready = one && conditionOf(one, 'Ready')
      return (
        ready !== undefined &&
        ['True', 'False'].includes(stringAt(ready, 'status')) &&
        stringAt(ready, 'reason') !== 'ArtifactFailed'
      )
    })
    if (stringAt(conditionOf(done!, 'Ready')!, 'status') === 'False') return null
    const applied: { [id: string]: Json } = {}
    for (const kind of ['configmaps', 'secrets'])
      for (const object of await list(`/api/v1/namespaces/${namespace}/${kind}`))
        if (stringAt(object, 'metadata', 'labels', 'kustomize.toolkit.fluxcd.io/name') === 'app')
          applied[`${kind} ${stringAt(object, 'metadata', 'name')}`] = jsonAt(object, 'data') ?? null
    return within(applied, namespace)
  }

  async function workerDoes(namespace: string, { files, spec }: ValueCase): Promise<Json> {
    const moved = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [`app/${path}`, text.replace(PLACE, namespace)]),
    )
    const fleet = valuedFleet(moved, { app: `, ${JSON.stringify(spec).slice(1, -1)}` })
    const renamed = Object.entries(fleet).map(
      ([path, text]) =>
        [
          path,
          text.replaceAll('namespace: apps', `namespace: ${namespace}`).replaceAll('name: apps', `name: ${namespace}`),
        ] as const,
    )
    const approved = await new ValuedRun().open(client, Object.fromEntries(renamed))
    const node = approved.apply.find(({ name }) => name === 'app')
    if (!node || node.unopened !== undefined) return null
    const objects = node.objects.map(text => JSON.parse(text) as Json)
    const plain = objects.map(object => [
      `${stringAt(object, 'kind').toLowerCase()}s ${stringAt(object, 'metadata', 'name')}`,
      mapAt(object, 'data'),
    ])
    return JSON.parse(JSON.stringify(Object.fromEntries(plain)))
  }

  beforeAll(async () => {
    world = await openFluxWorld()
    client = await connect(binding('staging', world.cluster.workerKubeconfig))
    await createPlatformAccount(world.cluster)
    for (const [number, name] of NAMES.entries())
      for (const who of ['flux', 'ours']) await prepare(`${who}-${number}-x`, CASES[name]!)
    await world.startController()
    const all = NAMES.map(async (name, number) => theirs.set(name, await fluxDoes(`flux-${number}-x`, CASES[name]!)))
    await Promise.all(all)
    await world.stopController()
  }, 240_000)
  afterAll(async () => {
    client?.close()
    await world?.close()
  })

  test.each(NAMES)('%s', async name => {
    const ours = await workerDoes(`ours-${NAMES.indexOf(name)}-x`, CASES[name]!)
    expect(ours).toEqual(theirs.get(name))
    expect(ours === null).toBe(CASES[name]!.refused === true)
  })
})
