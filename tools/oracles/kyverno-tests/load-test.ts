import { BailiwickError } from '../../../src/base/errors.ts'
import type { Tree } from '../../../src/git/tree.ts'
import { at, type Json, type MapNode, type Node, stringAt, toJson } from '../../../src/kube/node.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { refuseUnknownKeys, textsOf } from '../../../src/kube/read-fields.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import type { LoadedTest } from './run-test.ts'
import { searchJson } from './search-json.ts'
import { type GlobalEntry, readTest } from './test-file.ts'
import { NO_VALUES, readValues } from './test-values.ts'
import type { TestUser } from './test-world.ts'

export const TEST_FILE = 'kyverno-test.yaml'
const MAX_TESTS = 5_000
const MAX_OBJECTS = 100_000

/** The paths of all tests below a folder, sorted. Does not follow links. */
export function findTests(tree: Tree, folder: string): string[] {
  const found: string[] = []
  const open = [folder]
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    for (const { type, path, name } of tree.list(here)) {
      if (type === 'directory' && name !== 'node_modules') open.push(path)
      if (type === 'file' && name === TEST_FILE) found.push(path)
    }
    if (found.length > MAX_TESTS)
      throw new BailiwickError('evaluation-limits', `there are more than ${MAX_TESTS} files ${TEST_FILE}`, {
        fix: 'Name a folder with fewer of them.',
      })
  }
  return found.sort()
}

/** Reads a test and the files that it names, all from the tree. Throws `config` and YAML errors. */
export function loadTest(tree: Tree, path: string, repository: string): LoadedTest {
  const origin = { repository, file: path, line: 1, column: 1 }
  const documents = (file: string) => parseDocuments({ repository, path: file }, tree.read(file))
  const [root] = documents(path)
  const test = readTest(root, origin)
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  let room = MAX_OBJECTS
  const objectsOf = (names: readonly string[]) =>
    names
      .flatMap(name => filesAt(tree, inTree(folder, name, test.origin), test.origin))
      .flatMap(file => {
        const objects = documents(file).flatMap(listed)
        room -= objects.length
        if (room < 0)
          throw new BailiwickError('evaluation-limits', `a test reads more than ${MAX_OBJECTS} objects`, { origin })
        return objects
      })
  const one = (name: string) => {
    const [file] = filesAt(tree, inTree(folder, name, test.origin), test.origin)
    return file === undefined ? undefined : documents(file)[0]
  }
  const named = test.variables === undefined ? undefined : one(test.variables)
  const context = test.context === undefined ? undefined : one(test.context)
  const user = test.userInfo === undefined ? undefined : userOf(one(test.userInfo))
  return {
    test,
    policies: [...objectsOf(test.policies)],
    resources: objectsOf(test.resources),
    objects: objectsOf([...test.exceptions, ...test.objects]),
    cluster: test.cluster.length === 0 ? undefined : test.cluster.flatMap(name => clusterObjects(one(name), objectsOf)),
    contextResources: listAt(context, ['spec', 'resources']).flatMap(listed),
    images: imagesIn(context),
    globalContext: new Map(test.globalEntries.map(entry => [entry.name, globalContent(entry, objectsOf)])),
    values: test.values ?? (named ? readValues(named) : NO_VALUES),
    user,
  }
}

const listAt = (root: Node | undefined, path: string[]): readonly Node[] => {
  const list = at(root, path)
  return list?.type === 'list' ? list.items : []
}

/** The objects and CustomResourceDefinitions of a `kind: ClusterResource`. */
function clusterObjects(root: Node | undefined, objectsOf: (names: readonly string[]) => KubeObject[]): KubeObject[] {
  const definitions = textsOf(at(root, ['spec', 'crds'])) ?? []
  return [...listAt(root, ['spec', 'resources']).flatMap(listed), ...objectsOf(definitions)]
}

/** Metadata by image, from a `kind: Context`. */
function imagesIn(context: Node | undefined): ReadonlyMap<string, Json> {
  return new Map(listAt(context, ['spec', 'images']).map(image => [stringAt(image, ['image']) ?? '', toJson(image)]))
}

function globalContent(entry: GlobalEntry, objectsOf: (names: readonly string[]) => KubeObject[]): Json {
  const { files, data, fieldPath, projections } = entry
  const content = files.length > 0 ? objectsOf(files).map(({ root }) => toJson(root)) : data
  const root = fieldPath === '' ? content : searchJson(fieldPath, content)
  if (projections.length === 0) return root
  return Object.fromEntries(projections.map(({ name, path }) => [name, searchJson(path, root)]))
}

function userOf(root: Node | undefined): TestUser {
  refuseUnknownKeys(root, '', ['apiVersion', 'kind', 'metadata', 'roles', 'clusterRoles', 'userInfo'])
  refuseUnknownKeys(at(root, ['userInfo']), 'userInfo', ['username', 'uid', 'groups', 'extra'])
  const list = (path: string[]) => textsOf(at(root, path)) ?? []
  return {
    user: { name: stringAt(root, ['userInfo', 'username']) ?? '', groups: list(['userInfo', 'groups']) },
    roles: list(['roles']),
    clusterRoles: list(['clusterRoles']),
  }
}

/** Resolves a path of a test against the root of the tree. A path that leads out of the tree is not read. */
function inTree(folder: string, name: string, origin: KubeObject['root']['origin']): string {
  const refuse = (why: string) =>
    new BailiwickError('config', `the path ${JSON.stringify(name.slice(0, 200))} ${why}`, {
      origin,
      fix: 'Name a file of the same repository, relative to the test.',
    })
  if (/^[a-z]+:\/\//i.test(name) || /^git@/.test(name)) throw refuse('is an address, and tests read no network')
  if (name.startsWith('/')) throw refuse('is absolute')
  const steps = folder === '' ? [] : folder.split('/')
  for (const step of name.split('/')) {
    if (step === '' || step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.pop() === undefined) throw refuse('leads out of the repository')
  }
  return steps.join('/')
}

/** The file itself, or every YAML file of the folder. */
function filesAt(tree: Tree, path: string, origin: KubeObject['root']['origin']): string[] {
  const entry = tree.entry(path)
  if (entry?.type === 'file') return [path]
  if (entry?.type === 'directory')
    return tree.list(path).flatMap(one => (one.type === 'file' && /\.(?:ya?ml|json)$/.test(one.name) ? [one.path] : []))
  const what = entry === undefined ? 'does not exist' : `is a ${entry.type}, which is not followed`
  throw new BailiwickError('path-not-found', `${JSON.stringify(path.slice(0, 200))} ${what}`, {
    origin,
    fix: 'Correct the path in the test.',
  })
}

/** The objects of a document, including the items of a List. */
function listed(root: Node): KubeObject[] {
  if (root.type !== 'map') return []
  const items = stringAt(root, ['kind']) === 'List' ? at(root, ['items']) : undefined
  if (items?.type !== 'list') return [objectOf(root)]
  return items.items.flatMap(item => (item.type === 'map' ? [objectOf(item)] : []))
}

const objectOf = (root: MapNode): KubeObject => ({ root, trail: [] })
