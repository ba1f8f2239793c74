// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import type { Chance } from './chance.ts'
import { fluxRoot } from './flux-root.ts'
import { KINDS } from './objects.ts'
import { typedObject } from './typed.ts'
import type { Fields } from './value.ts'
import { pairs } from './vocabulary.ts'
import { YamlText } from './yaml-text.ts'

/** Where files go, and whether most of them should build. */
interface Manifests {
  readonly files: Record<string, string>
  readonly odd: boolean
  readonly chance: Chance
}

/** Objects of kinds that Flux has types for, of our own vocabulary, Lists and encrypted Secrets; every name is another. */
function manifests(odd: boolean, chance: Chance, from: number): Fields[] {
  const kinds = Object.keys(KINDS)
  return chance.list(1, 2, index => {
    const name = `m-${from + index}`
    if (chance.is(6)) return list(name, chance)
    if (chance.is(5)) return encrypted(name)
    if (chance.is(65)) return typedObject(chance, name)
    const made = KINDS[chance.pick(kinds)]!(chance)
    return odd ? made : { ...made, metadata: { ...(made.metadata as Fields), name } }
  })
}

const list = (name: string, chance: Chance): Fields => ({
  apiVersion: 'v1',
  kind: chance.pick(['List', 'ConfigMapList', 'DeploymentList']),
  items: chance.list(0, 2, index => typedObject(chance, `${name}-${index}`)),
})

const encrypted = (name: string): Fields => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  data: { password: 'ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ==,type:str]' },
  sops: {
    age: [{ recipient: 'age1x', enc: 'x' }],
    lastmodified: '2024-01-01T00:00:00Z',
    mac: 'ENC[x]',
    version: '3.8.1',
  },
})

/** A directory with a kustomization.yaml of its own, as people and older tools write it. */
export function rootManifests({ files, odd, chance }: Manifests): void {
  const yaml = new YamlText(chance, 6)
  const paths = chance.list(odd ? 0 : 1, 2, index => `r${index}.yaml`)
  for (const [index, path] of paths.entries())
    files[`root/${path}`] = yaml.documents(manifests(odd, chance, index * 10))
  if (chance.is(20)) {
    files['root/below/kustomization.yaml'] = yaml.document({ resources: ['x.yaml'], nameSuffix: '-below' })
    files['root/below/x.yaml'] = yaml.documents(manifests(odd, chance, 50))
    paths.push('below')
  }
  files['root/kustomization.yaml'] = yaml.document(fluxRoot(chance, paths))
}

/** A directory without a kustomization.yaml: Flux makes one of whatever lies in it. */
export function freeManifests({ files, odd, chance }: Manifests): void {
  const yaml = new YamlText(chance, 8)
  const paths = ['free/a.yaml', 'free/b.yml', 'free/deep/c.yaml', 'free/deep/deeper/d.yaml', 'free/.e.yaml']
  for (const [index, path] of paths.entries())
    if (chance.is(55)) files[path] = yaml.documents(manifests(odd, chance, index * 10))
  if (chance.is(25)) {
    files['free/own/kustomization.yaml'] = yaml.document({
      resources: ['x.yaml'],
      ...chance.maybe(50, 'commonLabels', () => pairs(chance, 1, 1, 0)),
    })
    files['free/own/x.yaml'] = yaml.documents([KINDS.ConfigMap!(chance)])
  }
  if (odd && chance.is(40))
    files['free/note.yaml'] = chance.pick([
      'a: b\n',
      '# nothing\n',
      '',
      '- 1\n',
      'apiVersion: v1\nkind: List\nitems: []\n',
      'kind: Kustomization\n',
      'not: [yaml\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ""}\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "${EMPTY}"}\n',
    ])
  files['free/readme.md'] = '# text\n'
}
