import { FLUX_KINDS, GIT_REPOSITORY } from '../flux/kinds.ts'
import { placesOf } from '../kube/capabilities/places-of.ts'
import { at, type Path, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../kube/object.ts'
import { kindOf } from './kind-of.ts'

/** The fields by which an object takes something from a source, by its kind. */
export const TAKING_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  FLUX_KINDS.flatMap(({ group, kind, references = [] }) => {
    const taking = references.flatMap(({ takes, path }) => (takes ? [path.join('.')] : []))
    return taking.length === 0 ? [] : [[`${group}/${kind}`, taking] as const]
  }),
)

/** The sources that an object takes something from, as sourceText names them; what a GitRepository includes too. */
export function takenBy(object: KubeObject): string[] {
  const kind = kindOf(object)
  const { namespace } = idOf(object)
  const taken = (TAKING_FIELDS.get(kind) ?? [])
    .flatMap(field => placesOf(object.root, field))
    .flatMap(path => named(object, path))
  if (kind !== GIT_REPOSITORY) return taken
  return [...taken, ...includedBy(object).map(name => sourceText({ kind: 'GitRepository', namespace, name }))]
}

/** The names of the sources that a GitRepository includes. */
export function includedBy({ root }: KubeObject): string[] {
  const list = at(root, ['spec', 'include'])
  return list?.type === 'list' ? list.items.flatMap(item => stringAt(item, ['repository', 'name']) ?? []) : []
}

/** A source as takenBy names it. */
export const sourceText = ({ kind, namespace, name }: Pick<ObjectId, 'kind' | 'namespace' | 'name'>): string =>
  `${kind} ${namespace}/${name}`

function named(object: KubeObject, path: Path): string[] {
  const reference = at(object.root, path)
  const [kind, name] = [stringAt(reference, ['kind']), stringAt(reference, ['name'])]
  if (kind === undefined || name === undefined) return []
  return [sourceText({ kind, namespace: stringAt(reference, ['namespace']) || idOf(object).namespace, name })]
}
