import { message } from '../../base/message.ts'
import { contentCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import {
  type Directories,
  type DirectoryHolder,
  type EvaluatedRepository,
  holderOf,
  holdsOthersBelow,
} from '../../fleet/facts/repositories.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { followedBy } from '../../fleet/facts/sources.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath } from '../../flux/artifact.ts'
import type { Tree } from '../../git/tree.ts'
import {
  ARTIFACT_GENERATOR,
  GIT_REPOSITORY,
  HELM_CHART,
  HELM_RELEASE,
  IMAGE_UPDATE_AUTOMATION,
  KUSTOMIZATION,
} from '../../kube/flux-kinds.ts'
import { at, itemsOf, originAt, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { joinPath } from '../../kustomize/paths.ts'
import { type NamedPath, namedPaths, renderedDirectories, violationIn } from '../git/rendered-tree.ts'
import { everyPath } from '../model/object-values.ts'
import { overLimit, type Rule, Subject, type TenantSubject, type Violation } from '../model/rule.ts'

/** A tenant's paths stay in the tenant's directories. The renderer raises it where an overlay leaves the repository. */
export const kustomizePathEscape: Rule = {
  id: 'kustomize-path-escape',
  severity: 'critical',
  title: "Path outside the tenant's directories",
  why: "A path that leaves the repository reads files of the machine that renders. In a repository of several tenants, a path into another tenant's directory deploys or exposes that tenant's files. A path with `..` hides its target.",
  source: 'CVE-2022-24877, CVE-2022-24348',
  docs: "Name directories below the tenant's own, without `..` in `spec.path` of a Kustomization. Overlays may use shared bases and components that the platform keeps beside the tenant's directory.",
  kinds: [KUSTOMIZATION, HELM_RELEASE, HELM_CHART, IMAGE_UPDATE_AUTOMATION, ARTIFACT_GENERATOR, GIT_REPOSITORY],
  *checkTenantObject(subject, { index }) {
    yield* pathsOfOthers(subject, index)
    for (const path of pathsOf(subject)) {
      const text = subject.text(path)
      const problem = text === undefined ? undefined : problemOf(subject.kind, path, text)
      if (problem !== undefined) yield violation(subject, path, text!, problem)
    }
  },
  checkRepository: (repository, { index }) => sharedPaths(repository, index),
}

/** Fields of an object that hold a path in a source. */
function pathsOf({ kind, object }: Subject): Path[] {
  if (kind === KUSTOMIZATION) return [['spec', 'path']]
  if (kind === IMAGE_UPDATE_AUTOMATION) return [['spec', 'update', 'path']]
  if (kind === ARTIFACT_GENERATOR || kind === GIT_REPOSITORY) return []
  const spec = kind === HELM_RELEASE ? ['spec', 'chart', 'spec'] : ['spec']
  const files = everyPath(object.root, [...spec, 'valuesFiles', '*'])
  return [[...spec, 'chart'], [...spec, 'valuesFile'], ...files]
}

function problemOf(kind: string, path: Path, text: string) {
  const plain = decoded(text).replaceAll('\\', '/')
  if (/^[a-z][a-z0-9+.-]*:/i.test(plain)) return 'is an address, not a path'
  if (joinPath('', plain) === undefined) return 'leads outside the source'
  const isFile = path.includes('valuesFiles') || path.includes('valuesFile')
  if (isFile && plain.startsWith('/')) return 'is absolute'
  const isSpec = kind === KUSTOMIZATION || kind === IMAGE_UPDATE_AUTOMATION
  return isSpec && plain.split('/').includes('..') ? 'contains ".."' : undefined
}

/** The text as a careless reader might decode it. */
function decoded(text: string): string {
  return text.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '\\')
}

function violation(
  subject: Subject,
  path: Path,
  text: string,
  problem: NonNullable<ReturnType<typeof problemOf>>,
): Violation {
  return subject.violation(path, text, {
    message: message`${quoted('field', path.join('.'))} of ${subject.who} is ${quoted('value', text)}, which ${problem}. Allowed: paths below the root of the source. Flux would stay below the root and read another file.`,
    fix: message`Write the path relative to the root of the source, without "..".`,
  })
}

/** A path that an object names in a source, and the source. */
interface SourcePath {
  /** The field that holds it. */
  readonly field: Path
  readonly text: string
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string }
  /** Everything below is read too. */
  readonly below: boolean
}

const GIT = 'GitRepository'

/**
 * Paths of an object other than a Kustomization that lead into another tenant's directory of a shared repository:
 * charts and their values, what an ArtifactGenerator copies, what a source includes, what an automation writes.
 */
function* pathsOfOthers(subject: TenantSubject, index: FleetIndex): Iterable<Violation> {
  const { node } = subject
  for (const { field, text, source, below } of sourcePaths(subject)) {
    if (source.kind !== GIT) continue
    const [found] = index.versionsOf(node.cluster, GIT_REPOSITORY, source.namespace, source.name)
    const directories = found && index.directoriesOf(followedBy(found.object, index.aliases()).url)
    if (!directories) continue
    const path = joinPath('', text.replace(/^\/+/, ''))?.join('/')
    if (path === undefined) continue
    const isForeign = holderOf(directories, path, node.tenant) === 'another tenant'
    if (!isForeign && !(below && holdsOthersBelow(directories, path, node.tenant))) continue
    yield subject.violation(field, `another tenant ${path}`, {
      message: message`${subject.who} reads ${quoted('path', path === '' ? '.' : path)}, which overlaps a directory of another tenant. Allowed: the tenant's own directories and those that the platform shares.`,
      fix: message`Set the path to one in the tenant's own directory.`,
    })
  }
}

function sourcePaths({ kind, object, id }: TenantSubject): SourcePath[] {
  if (kind.endsWith('/HelmRelease')) return ofChart(object, ['spec', 'chart', 'spec'], id.namespace)
  if (kind.endsWith('/HelmChart')) return ofChart(object, ['spec'], id.namespace)
  if (kind.endsWith('/ImageUpdateAutomation')) {
    const source = sourceAt(object, ['spec', 'sourceRef'], id.namespace)
    const field = ['spec', 'update', 'path']
    return [
      { field, text: stringAt(object.root, field) ?? '', source: { ...source, kind: source.kind || GIT }, below: true },
    ]
  }
  if (kind.endsWith('/ArtifactGenerator')) return ofGenerator(object, id.namespace)
  if (kind.endsWith('/GitRepository')) return ofIncludes(object, id.namespace)
  return []
}

/** Values files are named from the root of the source, as the chart is. */
function ofChart(object: KubeObject, spec: Path, namespace: string): SourcePath[] {
  const source = sourceAt(object, [...spec, 'sourceRef'], namespace)
  const fields: Path[] = [[...spec, 'valuesFile'], ...everyPath(object.root, [...spec, 'valuesFiles', '*'])]
  const files = fields.map(field => ({ field, text: stringAt(object.root, field), source, below: false }))
  const chart = { field: [...spec, 'chart'], text: stringAt(object.root, [...spec, 'chart']), source, below: true }
  return [chart, ...files].flatMap(({ text, ...one }) => (text === undefined ? [] : [{ ...one, text }]))
}

function ofGenerator(object: KubeObject, namespace: string): SourcePath[] {
  const aliases = new Map(
    everyPath(object.root, ['spec', 'sources', '*']).map(path => [
      stringAt(object.root, [...path, 'alias']) ?? '',
      sourceAt(object, path, namespace),
    ]),
  )
  const copies = everyPath(object.root, ['spec', 'artifacts', '*', 'copy', '*'])
  return copies.flatMap(path => {
    const field = [...path, 'from']
    const [, alias, text] = /^@([^/]+)\/?(.*)$/.exec(stringAt(object.root, field) ?? '') ?? []
    const source = alias === undefined ? undefined : aliases.get(alias)
    if (!source || text === undefined) return []
    const glob = text.search(/[*?[{]/)
    // for a pattern: everything below the last directory that it names in full
    const plain = glob < 0 ? text : text.slice(0, text.lastIndexOf('/', glob) + 1)
    return [{ field, text: plain, source, below: true }]
  })
}

function ofIncludes(object: KubeObject, namespace: string): SourcePath[] {
  return everyPath(object.root, ['spec', 'include', '*']).map(path => ({
    field: [...path, 'fromPath'],
    text: stringAt(object.root, [...path, 'fromPath']) ?? '',
    source: { kind: GIT, namespace, name: stringAt(object.root, [...path, 'repository', 'name']) ?? '' },
    below: true,
  }))
}

function sourceAt(object: KubeObject, path: Path, namespace: string): SourcePath['source'] {
  const reference = at(object.root, path)
  return {
    kind: stringAt(reference, ['kind']) ?? '',
    namespace: stringAt(reference, ['namespace']) || namespace,
    name: stringAt(reference, ['name']) ?? '',
  }
}

/** Paths that all Kustomizations of one tenant may name in one repository. */
const MAX_PATHS = 500_000

/**
 * Tenants' nodes that read another party's files in a shared repository. A tenant may read what the platform's
 * Kustomizations for it name, and everything below; other tenants' directories are closed, and a Kustomization that a
 * tenant declared may not begin in the platform's either.
 */
export function* sharedPaths(repository: EvaluatedRepository, index: FleetIndex): Generator<Violation> {
  const holders = index.directoriesOf(repository.url)
  const parties = new Set([...holders.holders.values()].flatMap(set => [...set]))
  const left = new Map<string, number>()
  for (const node of repository.nodes) {
    if (node.tenant === undefined || parties.size === 0 || (parties.size === 1 && parties.has(node.tenant))) continue
    const start = artifactPath(node.path)
    const isDeclared = index.node(node.parent)?.tenant === undefined
    const begins = isDeclared ? undefined : holderOf(holders, start, node.tenant)
    if (begins) yield sharedPathViolation(node, start, begins)
    else yield* readsOfOthers(repository, node, start, holders, left)
  }
}

function* readsOfOthers(
  { tree, url }: EvaluatedRepository,
  node: FleetNode,
  start: string,
  holders: Directories,
  left: Map<string, number>,
): Generator<Violation> {
  const tenant = node.tenant!
  const isForeign = (path: string) => holderOf(holders, path, tenant) === 'another tenant'
  const origin = originAt(node.kustomization.root, ['spec', 'path'])
  const first = [{ path: start, origin }, ...componentsOf(node, start)]
  for (const named of namedPaths(tree, url, first, path => !isForeign(path))) {
    const paths = (left.get(tenant) ?? MAX_PATHS) - 1
    left.set(tenant, paths)
    if (paths < 0) {
      const what = message`the Kustomizations of a tenant name more than ${MAX_PATHS} paths of one repository`
      yield overLimit(node, what, message`Split the overlays that are not built together.`, named.origin)
      return
    }
    if (!isWithin(named.path, start) && isForeign(named.path)) {
      yield { ...sharedPathViolation(node, named.path, 'another tenant'), origin: named.origin }
    }
  }
}

const isWithin = (path: string, directory: string) =>
  directory === '' || path === directory || path.startsWith(`${directory}/`)

function componentsOf({ kustomization }: FleetNode, start: string): NamedPath[] {
  return itemsOf(at(kustomization.root, ['spec', 'components'])).flatMap(item => {
    const parts = joinPath(start, stringAt(item, []) ?? '')
    return parts ? [{ path: parts.join('/'), origin: item.origin }] : []
  })
}

function sharedPathViolation(node: FleetNode, path: string, holder: DirectoryHolder): Violation {
  const who = objectPart('Kustomization', node.namespace, node.name)
  return Subject.ofNode(node).violation(['spec', 'path'], `${holder} ${path}`, {
    leads: [contentCause(node.key)],
    message: message`${who} reads ${quoted('path', path)}, a directory of ${holder === 'the platform' ? 'the platform' : 'another tenant'}. Allowed: the tenant's own directory and those that the platform shares. Flux reads every file of the source.`,
    fix: message`Set the path to one in the tenant's own directory, or in one that the platform shares.`,
  })
}

/** Linux follows as many; a longer chain counts as leading out. */
const MAX_LINKS = 40
const MAX_TARGET = 4096

const targetOf = (tree: Tree, path: string): string => Buffer.from(tree.read(path)).toString('utf8')

/** Overlay files are not symbolic links, and links beside them stay in the repository. The renderer raises the first. */
export const kustomizeSymlink: Rule = {
  id: 'kustomize-symlink',
  severity: 'critical',
  title: 'Symbolic link in an overlay',
  why: 'A symbolic link can lead to files of the machine that renders, or to a directory that was not reviewed.',
  source: 'CVE-2022-24877, CVE-2022-24348',
  docs: 'Replace the link with the file that it points to.',
  checkRepository: leavingLinks,
}

/** Rendered links that point out of the repository, whether or not an overlay names them. */
function* leavingLinks(repository: EvaluatedRepository): Generator<Violation> {
  for (const { facts, readerOf } of renderedDirectories(repository)) {
    for (const entry of facts.links) {
      const reader = readerOf(entry)
      if (!reader || !leaves(repository.tree, entry.path)) continue
      const target = targetOf(repository.tree, entry.path)
      yield violationIn(repository, reader, entry.path, `${entry.path} -> ${target}`, {
        message: message`${quoted('path', entry.path)} is a symbolic link to ${quoted('path', target)}, which is outside the repository. Allowed: links inside the repository. Flux ignores the link, but other programs would read a file of their own machine.`,
        fix: message`Remove the link, or replace it with the file.`,
      })
    }
  }
}

function leaves(tree: Tree, link: string): boolean {
  let path = link
  for (let hops = 0; hops < MAX_LINKS; hops++) {
    const next = follow(path.slice(0, Math.max(0, path.lastIndexOf('/'))), targetOf(tree, path))
    if (next === undefined) return true
    const through = linkIn(tree, next)
    if (through === undefined) return false
    const rest = next.slice(through.length)
    if (rest === '') path = through
    else {
      const target = follow(through.slice(0, Math.max(0, through.lastIndexOf('/'))), targetOf(tree, through) + rest)
      if (target === undefined) return true
      if (tree.entry(target)?.type !== 'symlink') return false
      path = target
    }
  }
  return true
}

/** The path that a target means; undefined outside of the repository. */
function follow(directory: string, target: string): string | undefined {
  if (target.length > MAX_TARGET) return undefined
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target) || target.startsWith('\\')) return undefined
  const parts = directory === '' ? [] : directory.split('/')
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** The first link on the way to a path, or at its end. */
function linkIn(tree: Tree, path: string): string | undefined {
  for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
    const part = end < 0 ? path : path.slice(0, end)
    if (tree.entry(part)?.type === 'symlink') return part
    if (end < 0) return undefined
  }
}
