import type { Fleet } from '../../fleet/model/fleet.ts'
import { SOURCE_GROUP } from '../../flux/kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { TenantLayout } from '../tenant-layout.ts'

/** What all tenants of a place have in common; undefined where they differ, or where too few show it. */
export interface FleetCustoms {
  /** Name of the file in which tenants keep an object of this kind. */
  readonly fileOf: (kind: string) => string | undefined
  /** Address of a tenant's repository. */
  readonly urlOf: (tenant: string) => string | undefined
  readonly branch: string | undefined
  /** The ClusterRole of the tenants' accounts. */
  readonly role: string | undefined
  /** What binds roles in the folders of tenants: `RoleBinding`, or `ClusterRoleBinding`, and the name of the role. */
  readonly grants: readonly RoleGrant[]
  /** Whether tenants keep the Secret of their source in git. */
  readonly keepsSecrets: boolean
}

interface RoleGrant {
  readonly kind: string
  readonly role: string
}

interface KnownTenant {
  readonly name: string
  readonly objects: readonly KubeObject[]
}

/** What the tenants of these layouts have in common. One tenant shows no pattern of addresses: two must have the same. */
export function fleetCustoms(fleet: Fleet, layouts: readonly TenantLayout[]): FleetCustoms {
  const tenants = layouts.flatMap(layout => knownTenants(fleet, layout))
  const sources = tenants.flatMap(({ name, objects }) =>
    objects
      .filter(object => groupOf(idOf(object).apiVersion) === SOURCE_GROUP)
      .map(({ root }) => ({
        name,
        url: stringAt(root, ['spec', 'url']) ?? '',
        branch: stringAt(root, ['spec', 'ref', 'branch']),
        secret: stringAt(root, ['spec', 'secretRef', 'name']),
        objects,
      })),
  )
  const names = new Set(sources.map(({ name }) => name))
  const pattern = names.size < 2 ? undefined : only(sources.map(({ name, url }) => patternOf(url, name)))
  const roles = tenants.flatMap(({ objects }) =>
    objects
      .filter(object => idOf(object).kind === 'RoleBinding')
      .map(({ root }) => stringAt(root, ['roleRef', 'kind']) === 'ClusterRole' && stringAt(root, ['roleRef', 'name'])),
  )
  const bindings = tenants.flatMap(({ objects }) => objects.filter(object => idOf(object).kind.endsWith('RoleBinding')))
  const grants = bindings.map(object => {
    const { kind } = idOf(object)
    return [kind, stringAt(object.root, ['roleRef', 'name']) ?? ''] as const
  })
  const withSecret = sources.filter(({ secret }) => secret !== undefined)
  return {
    fileOf: kind => only(tenants.flatMap(({ objects }) => filesOf(objects, kind))),
    urlOf: tenant => pattern?.replace(PLACE, tenant),
    branch: only(sources.map(({ branch }) => branch)),
    role: only(roles) || undefined,
    grants: [...new Map(grants.map(([kind, role]) => [`${kind} ${role}`, { kind, role }])).values()],
    keepsSecrets:
      withSecret.length > 0 &&
      withSecret.every(({ secret, objects }) =>
        objects.some(object => idOf(object).kind === 'Secret' && idOf(object).name === secret),
      ),
  }
}

/** No address has it. */
const PLACE = '{}'

/** An address with the place of the tenant's name in its last part; undefined where that has no such place. */
function patternOf(url: string, tenant: string): string | undefined {
  const start = url.lastIndexOf('/') + 1
  const parts = url.slice(start).split(tenant)
  return parts.length === 2 ? `${url.slice(0, start)}${parts.join(PLACE)}` : undefined
}

/** The tenants that a layout's node renders, each with the objects of its own folder. */
function knownTenants(fleet: Fleet, { node: key, base }: TenantLayout): KnownTenant[] {
  const node = fleet.nodes.find(one => one.key === key)
  const children = fleet.nodes.filter(one => one.parent === key && one.tenant !== undefined)
  return [...new Set(children.map(({ tenant }) => tenant!))].map(name => ({
    name,
    objects: (node?.objects ?? []).filter(({ root }) => folderIn(base, root.origin.file) === name),
  }))
}

/** The folder of a tenant that a file lies in directly. */
function folderIn(base: string, file: string): string | undefined {
  const rest = base === '' ? file : file.startsWith(`${base}/`) ? file.slice(base.length + 1) : ''
  const [folder, name, more] = rest.split('/')
  return name !== undefined && more === undefined ? folder : undefined
}

function filesOf(objects: readonly KubeObject[], kind: string): string[] {
  return objects.flatMap(object =>
    idOf(object).kind === kind ? [object.root.origin.file.slice(object.root.origin.file.lastIndexOf('/') + 1)] : [],
  )
}

/** The one value that all are; undefined for none and for several. */
function only<T>(values: readonly T[]): T | undefined {
  const [value, ...others] = new Set(values)
  return others.length === 0 ? value : undefined
}
