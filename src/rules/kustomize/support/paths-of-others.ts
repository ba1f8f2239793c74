import { holderOf, holdsOthersBelow } from '../../../facts/directory-holder.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import { followedBy } from '../../../facts/source-ref.ts'
import type { TenantSubject } from '../../../facts/subject.ts'
import { GIT_REPOSITORY } from '../../../flux/kinds.ts'
import { at, type Path, stringAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { joinPath } from '../../../kustomize/paths/resolve-path.ts'
import { message } from '../../../message/message.ts'
import type { Violation } from '../../model/rule.ts'
import { everyPath } from '../../workloads/support/every-path.ts'

/** A path that an object names in a source, and the source. */
interface SourcePath {
  /** The field that holds it. */
  readonly field: Path
  readonly text: string
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string }
  /** Everything below is read, too. */
  readonly below: boolean
}

const GIT = 'GitRepository'

/**
 * Paths of an object other than a Kustomization that lead into another tenant's directory of a repository that several
 * deploy from: charts and their values, what an ArtifactGenerator copies, what a source includes, what an automation writes.
 */
export function* pathsOfOthers(subject: TenantSubject, index: FleetIndex): Iterable<Violation> {
  const { object, id, node } = subject
  for (const { field, text, source, below } of sourcePaths(subject)) {
    if (source.kind !== GIT) continue
    const [found] = index.versionsOf(node.cluster, GIT_REPOSITORY, source.namespace, source.name)
    const directories = found && index.directoriesOf(followedBy(found.object, index.aliases()).url)
    if (!directories) continue
    const path = joinPath('', text.replace(/^\/+/, ''))?.join('/')
    if (path === undefined) continue
    const isForeign = holderOf(directories, path, node.tenant) === 'another tenant'
    if (!isForeign && !(below && holdsOthersBelow(directories, path, node.tenant))) continue
    yield {
      node,
      object,
      path: field,
      value: `another tenant ${path}`,
      message: message`${objectPart(id.kind, id.namespace, id.name)} reads ${quoted('path', path === '' ? '.' : path)}, which overlaps a directory of another tenant. Allowed: the tenant's own directories and those that the platform shares.`,
      fix: message`Set the path to one in the tenant's own directory.`,
    }
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

/** Values are named from the root of the source, as the chart is. */
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
    // of a pattern, everything below the last directory that it names in full
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
