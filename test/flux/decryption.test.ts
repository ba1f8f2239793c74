import { describe, expect, test } from 'vitest'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { at, toJson } from '../../src/kube/node.ts'
import { idOf } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const ENCRYPTED = {
  'a.env': 'A=ENC[AES256_GCM,data:x]\nsops_mac=ENC[AES256_GCM,data:x]\n',
  'a.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\na: ENC[AES256_GCM,data:x]\nsops:\n    mac: ENC[AES256_GCM,data:x]\n',
  'a.json': '{"a": "ENC[]", "sops": {"mac": "ENC[AES256_GCM,data:x]"}}',
  'a.ini': '[a]\nb = ENC[AES256_GCM,data:x]\n\n[sops]\nversion = 3\n',
}
const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n'

type List = 'resources' | 'components'

/** What a directory `base` with these fields builds, or what names it under `list`. */
function objectsOf(fields: string, spec: string, list?: List, more: Record<string, string> = {}) {
  const path = list ? 'overlay' : 'base'
  const text = `kind: Kustomization\nmetadata: {name: k}\nspec:\n  path: ./${path}\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  const kind = list === 'components' ? 'Component' : 'Kustomization'
  const resources = fields.includes('resources:') ? '' : 'resources: [c.yaml]\n'
  const files = {
    ...Object.fromEntries(Object.entries(ENCRYPTED).map(([name, content]) => [`base/${name}`, content])),
    'base/c.yaml': CONFIG_MAP,
    'base/kustomization.yaml': `${fields}${resources}kind: ${kind}\n`,
    'overlay/kustomization.yaml': `${list}: [../base]\n`,
    ...more,
  }
  return renderKustomization({ repository: 'tenant', tree: treeOf(files) }, { root, trail: [] })
}

/** What was generated: the keys of its data, and which of them are unknown. */
function built(fields: string, spec: string, list?: List) {
  return objectsOf(fields, spec, list)
    .filter(object => idOf(object).name.startsWith('x'))
    .map(object => {
      const data = at(object.root, ['data'])
      const values = data?.type === 'map' ? [...data.fields] : []
      const unknown = values.filter(([, { value }]) => value.type === 'scalar' && value.opaque).map(([key]) => key)
      return { kind: idOf(object).kind, name: idOf(object).name, keys: values.map(([key]) => key), unknown }
    })
}

const outcome = (fields: string, spec: string) => refusalAt(() => objectsOf(fields, spec))

const DECRYPTION = '  decryption: {provider: sops}\n'
const READERS = {
  'a file of a Secret': 'secretGenerator:\n- name: x\n  files: [a.yaml]\n',
  'one that has a key': 'secretGenerator:\n- name: x\n  files: [key=a.json]\n',
  'one in the format of git': 'secretGenerator:\n- name: x\n  files: [a.ini]\n',
  'an env file of a Secret': 'secretGenerator:\n- name: x\n  envs: [a.env]\n',
}
const REFUSED = {
  'a patch': ['patches:\n- target: {kind: ConfigMap}\n  path: a.yaml\n', 'base/kustomization.yaml:3'],
  'a ConfigMap of the same file': [
    'secretGenerator:\n- {name: x, files: [a.yaml]}\nconfigMapGenerator:\n- {name: w, files: [a.yaml]}\n',
    'base/kustomization.yaml:4',
  ],
  'an env file in another format': ['secretGenerator:\n- name: x\n  envs: [a.yaml]\n', 'base/kustomization.yaml:3'],
  'an encrypted object that is a file of a Secret, too': [
    'secretGenerator:\n- name: x\n  files: [a.yaml]\npatchesStrategicMerge: [a.yaml]\n',
    'base/a.yaml:1',
  ],
  'a copy of an unknown value': [
    `secretGenerator:\n- name: x\n  envs: [a.env]\nreplacements:\n- source: {kind: Secret, name: x, fieldPath: data.A}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]\n`,
    'base/kustomization.yaml:5',
  ],
  'a replacement inside of an unknown value': [
    `secretGenerator:\n- name: x\n  envs: [a.env]\nreplacements:\n- source: {kind: ConfigMap, name: c, fieldPath: metadata.name}\n  targets: [{select: {kind: Secret}, fieldPaths: [data.A], options: {delimiter: x}}]\n`,
    'base/kustomization.yaml:6',
  ],
  'a test of an unknown value': [
    'secretGenerator:\n- name: x\n  envs: [a.env]\npatches:\n- target: {kind: Secret}\n  patch: |\n    [{"op": "test", "path": "/data/A", "value": "x"}]\n',
    'base/kustomization.yaml:7',
  ],
  'a move of an unknown value': [
    'secretGenerator:\n- name: x\n  envs: [a.env]\npatches:\n- target: {kind: Secret}\n  patch: |-\n    - {op: move, from: /data/A, path: /metadata/namespace}\n',
    'base/kustomization.yaml:7',
  ],
} satisfies Record<string, [string, string]>

describe('what Flux decrypts before it builds', () => {
  test.for(Object.entries(READERS))('%s is a Secret with unknown values', ([, fields]) => {
    const [secret] = built(fields, DECRYPTION)
    expect(secret).toMatchObject({ kind: 'Secret', name: expect.stringMatching(/^x-unknown-[a-z0-9]{10}$/) })
    expect(secret!.unknown).toEqual(secret!.keys)
    expect(secret!.keys).toHaveLength(1)
    expect(built(fields, '')[0]!.unknown).toEqual([])
    expect(built(fields, '  decryption: null\n')[0]!.name).toMatch(/^x-[a-z0-9]{10}$/)
  })
  test.for(['resources', 'components'] as const)('so it is below %s', list => {
    const fields = READERS['a file of a Secret']
    expect(built(fields, DECRYPTION, list)[0]).toMatchObject({ unknown: ['a.yaml'] })
    expect(built(fields, '', list)[0]).toMatchObject({ unknown: [] })
  })
  test('what it does not look into is a file as any other', () => {
    const unknown = (fields: string) => built(fields, DECRYPTION)[0]!.unknown
    expect(unknown('configMapGenerator:\n- name: x\n  files: [a.yaml]\n')).toEqual([])
    expect(unknown('secretGenerator:\n- name: x\n  files: [c.yaml]\n')).toEqual([])
  })
  test('beside known values only what is encrypted is unknown', () => {
    const [secret] = built('secretGenerator:\n- name: x\n  envs: [a.env]\n  literals: [B=b]\n', DECRYPTION)
    expect(secret).toMatchObject({ keys: ['A', 'B'], unknown: ['A'] })
  })
  test('whoever names the Secret follows its name', () => {
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{name: v, secret: {secretName: x}}], containers: [{name: c, image: i}]}\n'
    const fields = 'secretGenerator:\n- name: x\n  envs: [a.env]\nnamePrefix: web-\n'
    const all = objectsOf(`${fields}resources: [p.yaml, c.yaml]\n`, DECRYPTION, undefined, { 'base/p.yaml': pod })
    const json = all.map(({ root }) => toJson(root)) as { kind: string; metadata: { name: string } }[]
    const { name } = json.find(({ kind }) => kind === 'Secret')!.metadata
    expect(name).toMatch(/^web-x-unknown-/)
    expect(json.find(({ kind }) => kind === 'Pod')).toMatchObject({
      spec: { volumes: [{ secret: { secretName: name } }] },
    })
  })
  test('but for the values and the hash it is what the decrypted file makes', () => {
    const fields =
      'secretGenerator:\n- name: x\n  envs: [a.env]\n  files: [a.json]\n  literals: [B=b]\n  type: kubernetes.io/x\n- name: w\n  literals: [A=a]\n- {name: w, behavior: merge, files: [a.ini]}\nnamespace: web\ncommonLabels: {app: x}\n'
    const decrypted = { 'base/a.env': 'A=open\n', 'base/a.json': '{"a": "open"}', 'base/a.ini': '[a]\nb = open\n' }
    const masked = (files: Record<string, string>) =>
      objectsOf(fields, DECRYPTION, undefined, files).map(({ root }) => {
        const object = toJson(root) as { data?: Record<string, string>; metadata: { name: string } }
        for (const key of ['A', 'a.json', 'a.ini']) {
          if (object.data?.[key] && object.metadata.name.startsWith(key === 'a.ini' ? 'w' : 'x')) object.data[key] = '?'
        }
        object.metadata.name = object.metadata.name.replace(/(?:-unknown)?-[a-z0-9]{10}$/, '')
        return object
      })
    expect(masked({})).toEqual(masked(decrypted))
  })
  test('another ciphertext is another name and another digest', () => {
    const fields = READERS['an env file of a Secret']
    const name = (text: string) =>
      idOf(objectsOf(fields, DECRYPTION, undefined, { 'base/a.env': text }).find(o => idOf(o).kind === 'Secret')!).name
    const text = ENCRYPTED['a.env']
    expect(name(text)).toBe(name(text))
    expect(name(text)).not.toBe(name(text.replace('A=ENC[AES256_GCM,data:x', 'A=ENC[AES256_GCM,data:y')))
  })
  test.for(Object.entries(REFUSED))('%s is refused', ([, [fields, place]]) => {
    expect(outcome(fields, DECRYPTION)).toBe(`kustomize-unsupported @${place}`)
    expect(outcome(fields, '')).not.toMatch('kustomize-unsupported')
  })
})
