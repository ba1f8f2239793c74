import type { FleetConfig } from '../model/fleet-config.ts'
import type { DeclaredTenancy } from './tenancy.ts'

/** What the fleet's own file says about the namespaces of a cluster. */
export function declaredIn({ tenants }: FleetConfig, cluster: string): DeclaredTenancy {
  const here = [...tenants.values()].filter(({ clusters }) => clusters === undefined || clusters.includes(cluster))
  const [platform, others] = [here.filter(one => one.platform), here.filter(one => !one.platform)]
  return {
    owners: new Map(others.flatMap(({ name, namespaces }) => namespaces.map(namespace => [namespace, name] as const))),
    platformTenants: new Set(platform.map(({ name }) => name)),
    platformNamespaces: new Set(platform.flatMap(({ namespaces }) => namespaces)),
  }
}
