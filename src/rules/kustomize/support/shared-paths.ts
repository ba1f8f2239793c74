import { type Directories, type DirectoryHolder, holderOf } from '../../../facts/directory-holder.ts'
import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { artifactPath } from '../../../flux/artifact-path.ts'
import { at, itemsOf, originAt, stringAt } from '../../../kube/node.ts'
import { joinPath } from '../../../kustomize/paths/resolve-path.ts'
import { message } from '../../../message/message.ts'
import { overLimit } from '../../model/over-limit.ts'
import type { Violation } from '../../model/rule.ts'
import { type NamedPath, namedPaths } from './named-paths.ts'

/** Paths that all Kustomizations of one tenant may name in one repository. */
const MAX_PATHS = 500_000

/**
 * Tenants' nodes that read what is another party's, in a repository that several deploy from. Theirs is what the
 * platform's Kustomizations for them name, everything below included; of the rest another tenant's directories are closed,
 * and a Kustomization that a tenant declared may not begin in the platform's either.
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
    if (begins) yield violation(node, start, begins)
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
      yield { ...violation(node, named.path, 'another tenant'), origin: named.origin }
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

function violation(node: FleetNode, path: string, holder: DirectoryHolder): Violation {
  const who = objectPart('Kustomization', node.namespace, node.name)
  return {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    value: `${holder} ${path}`,
    message: message`${who} reads ${quoted('path', path)}, a directory of ${holder === 'the platform' ? 'the platform' : 'another tenant'}. Allowed: the tenant's own directory and those that the platform shares. Flux reads every file of the source.`,
    fix: message`Set the path to one in the tenant's own directory, or in one that the platform shares.`,
  }
}
