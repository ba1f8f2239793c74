import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../../fleet/model/fleet.ts'
import { parentOf, type Tree } from '../../git/tree.ts'
import { at, canonical, stringAt, withField } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { editText, type TextEdit } from '../../verdict/edit-text.ts'
import { addToList, readKustomization } from '../onboard/edit-kustomization.ts'
import { kustomizationFile } from '../onboard/tenant-layout.ts'

/**
 * The ways to add a file to what the parents of a Kustomization render, best first: beside the Kustomization, then in the
 * folders above it up to that of its parent. Each is the new content of files. Whether a way works shows when it is rendered.
 */
export function placesFor(
  tree: Tree,
  kustomization: FleetNode,
  parent: FleetNode,
  file: { readonly name: string; readonly content: string },
): ReadonlyMap<string, string>[] {
  const top = clean(parent.path)
  const own = parentOf(kustomization.kustomization.root.origin.file)
  const places: ReadonlyMap<string, string>[] = []
  for (let folder = own; ; folder = parentOf(folder)) {
    const files = placeIn(tree, folder, file)
    if (files) places.push(files)
    if (folder === top || folder === '' || !`${folder}/`.startsWith(`${top}/`)) break
  }
  return places
}

/** A folder without a kustomization file is rendered with all of its files. */
function placeIn(
  tree: Tree,
  folder: string,
  { name, content }: { readonly name: string; readonly content: string },
): ReadonlyMap<string, string> | undefined {
  const path = folder === '' ? name : `${folder}/${name}`
  if (tree.entry(path) !== undefined) return undefined
  const list = kustomizationFile(tree, folder)
  if (list === undefined) return new Map([[path, content]])
  const text = textOf(tree, list)
  const { resources } = readKustomization({ path: list, text })
  const written = Array.isArray(resources) ? resources : []
  const entry = written.some(item => typeof item === 'string' && item.startsWith('./')) ? `./${name}` : name
  return new Map([
    [path, content],
    [list, addToList({ path: list, text }, 'resources', entry)],
  ])
}

/** The text of a file of a tree. */
export const textOf = (tree: Tree, path: string): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))

const clean = (path: string) =>
  path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')

/**
 * The files in which objects are written, with `spec.serviceAccountName` added to each; every other character stays. Throws
 * `adopt-layout` for an object whose text cannot be edited with certainty.
 */
export function setAccount(
  tree: Tree,
  url: string,
  objects: readonly KubeObject[],
  account: string,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const lines = new Set<string>()
  // from the end of a file to its beginning: the lines above stay where they are
  for (const object of [...objects].sort((a, b) => lineOf(b) - lineOf(a))) {
    const spec = object.root.fields.get('spec')
    const { repository, file } = object.root.origin
    const place = spec && `${file}:${spec.key.line}`
    if (place !== undefined && lines.has(place)) continue
    const isOwn = repository === '' || repository === url
    const text = isOwn && tree.entry(file)?.type === 'file' ? (texts.get(file) ?? textOf(tree, file)) : undefined
    const edit = text === undefined ? undefined : editOf(text, object, account)
    if (text === undefined || edit === undefined || place === undefined) throw notEditable(object, account)
    const all = text.split('\n')
    texts.set(file, [...all.slice(0, edit.first - 1), ...edit.lines, ...all.slice(edit.last)].join('\n'))
    lines.add(place)
  }
  return texts
}

function editOf(text: string, { root }: KubeObject, account: string): TextEdit | undefined {
  const field = '/spec/serviceAccountName'
  const written = at(root, ['spec', 'serviceAccountName'])
  const spec = root.fields.get('spec')
  if (written) return editText(text, { field, ...positionOf(written.origin) }, { set: account })
  return spec && editText(text, { field, ...positionOf(spec.key) }, { add: account })
}

const positionOf = ({ line, column }: Origin) => ({ line, column })

const lineOf = ({ root }: KubeObject) => root.fields.get('spec')?.key.line ?? 0

function notEditable(object: KubeObject, account: string): BailiwickError {
  return new BailiwickError(
    'adopt-layout',
    `${display(idOf(object))}: spec.serviceAccountName cannot be added to its text`,
    {
      fix: `Write its spec as a plain YAML map of this repository, or add \`serviceAccountName: ${account}\` by hand and bind the account.`,
      origin: object.root.origin,
    },
  )
}

/** What an adoption changes: nothing else may. */
export interface ExpectedChange {
  readonly account: string
  /** Keys of the Kustomizations that get the account. */
  readonly adopted: ReadonlySet<string>
  /** By keyOf: what is new, on the clusters of these Kustomizations. */
  readonly added: ReadonlySet<string>
  /** By keyOf: objects that get the account. */
  readonly edited: ReadonlySet<string>
}

/** An object of a cluster, whatever its version: `apps/Deployment web/nginx`. */
export const keyOf = ({ apiVersion, kind, namespace, name }: ObjectId): string =>
  `${groupOf(apiVersion)}/${kind} ${namespace}/${name}`

const NONE: ReadonlySet<string> = new Set()

/** What differs between two fleets besides an adoption; undefined where nothing does. */
export function unexpectedChange(before: Fleet, after: Fleet, expected: ExpectedChange): string | undefined {
  const now = nodesByKey(after.nodes)
  const old = new Set(before.nodes.map(node => node.key))
  const added = after.nodes.find(node => !old.has(node.key))
  if (added) return `${added.key} would be new`
  const clusters = new Set(before.nodes.filter(({ key }) => expected.adopted.has(key)).map(({ cluster }) => cluster))
  for (const node of before.nodes) {
    const next = now.get(node.key)
    if (!next) return `${node.key} would be gone`
    if (next.error?.message !== node.error?.message) return `${node.key} would fail: ${next.error?.message ?? ''}`
    const account = stringAt(next.kustomization.root, ['spec', 'serviceAccountName'])
    const isAdopted = expected.adopted.has(node.key)
    if (isAdopted && account !== expected.account) return `${node.key} would not get the account`
    const problem = compareObjects(
      node,
      next,
      clusters.has(node.cluster) ? expected : { ...expected, added: NONE, edited: NONE },
    )
    if (problem) return problem
  }
  return [...clusters].map(cluster => missing(after, cluster, expected)).find(problem => problem !== undefined)
}

function compareObjects(
  before: FleetNode,
  after: FleetNode,
  { account, added, edited }: ExpectedChange,
): string | undefined {
  const now = new Map(after.objects.map(object => [keyOf(idOf(object)), object]))
  const old = new Set<string>()
  for (const object of before.objects) {
    const name = keyOf(idOf(object))
    old.add(name)
    const next = now.get(name)
    if (!next) return `${name} would be gone from ${after.key}`
    const wanted = edited.has(name) ? withAccount(object, next, account) : canonical(object.root)
    if (canonical(next.root) !== wanted) return `${name} of ${after.key} would change`
  }
  const stray = [...now.keys()].find(name => !old.has(name) && !added.has(name))
  return stray === undefined ? undefined : `${stray} of ${after.key} would be new`
}

/** The object as it was, with the account. */
function withAccount(object: KubeObject, next: KubeObject, account: string): string {
  const spec = at(object.root, ['spec'])
  const written = at(next.root, ['spec', 'serviceAccountName'])
  if (spec?.type !== 'map' || written?.type !== 'scalar' || written.value !== account) return ''
  return canonical(withField(object.root, 'spec', withField(spec, 'serviceAccountName', written)))
}

function missing(after: Fleet, cluster: string, { added }: ExpectedChange): string | undefined {
  const here = after.nodes.filter(node => node.cluster === cluster)
  const present = new Set(here.flatMap(node => node.objects.map(object => keyOf(idOf(object)))))
  const absent = [...added].find(name => !present.has(name))
  return absent && `${absent} would not be applied on ${cluster}`
}
