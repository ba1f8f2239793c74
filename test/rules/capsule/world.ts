import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Json } from '../../../src/kube/node.ts'

export type Plain = { [key: string]: Json }

/** A fleet with Capsule, of which both Capsule and Bailiwick are asked (world.yaml). */
export interface World {
  readonly configuration: Plain
  readonly platform: readonly Plain[]
  readonly tenants: Readonly<Record<string, { readonly spec: Plain; readonly objects: readonly Plain[] }>>
}

/** A request whose answer is compared. */
export interface Question {
  readonly name: string
  /** A tenant, or `platform`. */
  readonly as: string
  readonly object: Plain
  readonly isDeletion: boolean
  /** The rule that refuses it in words of its own. */
  readonly instead: string | undefined
  /** The answer depends on what only the cluster knows. */
  readonly isUnknown: boolean
  /** Whether Capsule of some versions does not look at the account, which may have been another way before. */
  readonly isUnlisted: boolean
  /** The first minor version whose answer is always the same. */
  readonly from: number
}

const read = (file: string) => parse(readFileSync(join(import.meta.dirname, file), 'utf8'))

export const readWorld = (): World => read('world.yaml')

export function questions(): Question[] {
  const groups: Record<string, Record<string, Plain>> = read('requests.yaml')
  return Object.entries(groups).flatMap(([group, all]) =>
    Object.entries(all).map(
      ([
        name,
        { as = 'oil', instead, delete: isDeletion = false, depends = false, unlisted = false, from = 0, ...object },
      ]) => ({
        name: `${group}: ${name}`,
        as: as as string,
        object,
        isDeletion: isDeletion as boolean,
        instead: instead as string | undefined,
        isUnknown: depends as boolean,
        isUnlisted: unlisted as boolean,
        from: from as number,
      }),
    ),
  )
}

const ACCOUNT = 'gitops-reconciler'
export const homeOf = (tenant: string): string => (tenant === 'platform' ? 'flux-system' : `${tenant}-system`)

/** The user name of a tenant's account, or of the platform's. */
export const accountName = (tenant: string): string =>
  `system:serviceaccount:${homeOf(tenant)}:${tenant === 'platform' ? 'kustomize-controller' : ACCOUNT}`

export const groupsOf = (user: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${user.split(':')[2]}`,
  'system:authenticated',
]

/** What the platform makes for a tenant. */
export function homeObjects(world: World, tenant: string): Plain[] {
  const owner = { kind: 'ServiceAccount', name: accountName(tenant) }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: homeOf(tenant) } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace: homeOf(tenant) } },
    {
      apiVersion: 'capsule.clastix.io/v1beta2',
      kind: 'Tenant',
      metadata: { name: tenant },
      spec: { owners: [owner], ...world.tenants[tenant]!.spec },
    },
  ]
}

export const configurationOf = (world: World): Plain => ({
  apiVersion: 'capsule.clastix.io/v1beta2',
  kind: 'CapsuleConfiguration',
  metadata: { name: 'default' },
  spec: world.configuration,
})

export const tenantObjects = (world: World, tenant: string): readonly Plain[] => world.tenants[tenant]!.objects
