import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { parseDocuments } from '../../src/kube/parse-documents.ts'
import { treeOf } from '../git/tree-of.ts'

const ENCRYPTED = {
  'a.env': 'A=ENC[AES256_GCM,data:x]\nsops_mac=ENC[AES256_GCM,data:x]\n',
  'a.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\na: ENC[AES256_GCM,data:x]\nsops:\n    mac: ENC[AES256_GCM,data:x]\n',
  'a.json': '{"a": "ENC[]", "sops": {"mac": "ENC[AES256_GCM,data:x]"}}',
  'a.ini': '[a]\nb = ENC[AES256_GCM,data:x]\n\n[sops]\nversion = 3\n',
}
const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n'

/** What becomes of a directory `base` with these fields, or of what names it under `list`. */
function outcome(fields: string, spec: string, list?: 'resources' | 'components'): string {
  const path = list ? 'overlay' : 'base'
  const text = `kind: Kustomization\nmetadata: {name: k}\nspec:\n  path: ./${path}\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  const kind = list === 'components' ? 'Component' : 'Kustomization'
  const files = {
    ...Object.fromEntries(Object.entries(ENCRYPTED).map(([name, content]) => [`base/${name}`, content])),
    'base/c.yaml': CONFIG_MAP,
    'base/kustomization.yaml': `${fields}resources: [c.yaml]\nkind: ${kind}\n`,
    'overlay/kustomization.yaml': `${list}: [../base]\n`,
  }
  try {
    renderKustomization({ repository: 'tenant', tree: treeOf(files) }, { root, trail: [] })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return `${error.code} @${error.origin?.file}:${error.origin?.line}`
  }
  return 'rendered'
}

const DECRYPTION = '  decryption: {provider: sops}\n'
const READERS = {
  'a file of a Secret': 'secretGenerator:\n- name: x\n  files: [a.yaml]\n',
  'one that has a key': 'secretGenerator:\n- name: x\n  files: [key=a.json]\n',
  'one in the format of git': 'secretGenerator:\n- name: x\n  files: [a.ini]\n',
  'an env file of a Secret': 'secretGenerator:\n- name: x\n  envs: [a.env]\n',
  'a patch': 'patches:\n- target: {kind: ConfigMap}\n  path: a.yaml\n',
}

describe('what Flux decrypts before it builds', () => {
  test.for(Object.entries(READERS))('%s is refused with spec.decryption, at the entry', ([, fields]) => {
    expect(outcome(fields, DECRYPTION)).toBe('kustomize-unsupported @base/kustomization.yaml:3')
    expect(outcome(fields, '')).toBe('rendered')
    expect(outcome(fields, '  decryption: null\n')).toBe('rendered')
  })
  test.for(['resources', 'components'] as const)('so it is below %s', list => {
    const fields = READERS['a file of a Secret']
    expect(outcome(fields, DECRYPTION, list)).toBe('kustomize-unsupported @base/kustomization.yaml:3')
    expect(outcome(fields, '', list)).toBe('rendered')
  })
  test('what it does not look into is a file as any other', () => {
    expect(outcome('configMapGenerator:\n- name: x\n  files: [a.yaml]\n', DECRYPTION)).toBe('rendered')
    expect(outcome('secretGenerator:\n- name: x\n  files: [c.yaml]\n', DECRYPTION)).toBe('rendered')
  })
})
