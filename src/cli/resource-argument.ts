import { BailiwickError } from '../errors.ts'
import type { KnownResource, ResourceTable } from '../kube/rbac/resource-table.ts'

/** What RESOURCE[/NAME] means. */
export interface AskedResource {
  readonly group: string
  readonly resource: string
  /** '' where none is given. */
  readonly name: string
  /** undefined: it is taken as it stands. */
  readonly known: KnownResource | undefined
}

/** What a user without a namespace may be impersonated as; kinds of other projects with these names are not meant. */
const IMPERSONATED = new Map([
  ['users', 'User'],
  ['user', 'User'],
  ['groups', 'Group'],
  ['group', 'Group'],
])

/**
 * Reads `RESOURCE[.GROUP][/NAME]` as kubectl takes it: plural, singular, kind or short name. One that is not known is taken as
 * it stands where its group is written, because RBAC compares texts. Throws `usage` for an ambiguous or unknown word.
 */
export function resourceArgument(verb: string, text: string, table: ResourceTable): AskedResource {
  const slash = text.indexOf('/')
  const [word, name] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
  if (slash >= 0 && (name === '' || name.includes('/'))) {
    throw usage(`${JSON.stringify(text)} is not RESOURCE[/NAME]`, 'A subresource is --subresource NAME.')
  }
  if (word === '*') return { group: '*', resource: '*', name, known: undefined }
  const kind = verb === 'impersonate' ? IMPERSONATED.get(word.toLowerCase()) : undefined
  const one = kind && ({ group: '', kind, resource: `${kind.toLowerCase()}s`, scope: 'Cluster' } as const)
  const found = one ? [one] : table.find(word)
  const [known, other] = found
  if (known && !other) return { group: known.group, resource: known.resource, name, known }
  if (known) {
    const all = found.map(({ resource, group }) => `${resource}.${group}`).join(', ')
    throw usage(`${JSON.stringify(word)} is ambiguous. Kinds with this name: ${all}`, 'Write RESOURCE.GROUP.')
  }
  const dot = word.indexOf('.')
  if (dot > 0) return { group: word.slice(dot + 1), resource: word.slice(0, dot), name, known: undefined }
  throw usage(
    `neither Kubernetes nor the fleet has a resource ${JSON.stringify(word)}`,
    'Write its plural, or RESOURCE.GROUP to have it taken as it stands.',
  )
}

/** A Namespace is asked for inside itself, but made in the cluster; another resource of the cluster has no namespace. */
export function placeOf({ group, resource, name, known }: AskedResource, verb: string, namespace: string): string {
  if (group === '' && resource === 'namespaces') return verb === 'create' ? '' : name
  return known?.scope === 'Cluster' ? '' : namespace
}

function usage(message: string, fix: string): BailiwickError {
  return new BailiwickError('usage', message, { fix })
}
