import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { scratch, write } from './run-main.ts'

const FLEET = join(import.meta.dirname, '../../fleet/fleets/acme/fleet')

interface Names {
  /** Name of the tenant that is `dev-team` in the test fleet, and its namespace. */
  readonly tenant: string
  readonly namespace: string
  /** Name of the cluster that is `staging` in the test fleet. */
  readonly cluster: string
}

/** A folder with the test fleet below other names, and the tenant `ops-team` with the namespace `ops` beside it. */
export function twoTenants({ tenant, namespace, cluster }: Names): string {
  const named = (text: string) =>
    text
      .replaceAll('dev-team', tenant)
      .replaceAll('staging', cluster)
      .replace(/\bapps\b(?!\/v1)/g, namespace)
  const files = readdirSync(FLEET, { recursive: true, withFileTypes: true }).flatMap(entry => {
    if (!entry.isFile()) return []
    const path = relative(FLEET, join(entry.parentPath, entry.name))
    const text = readFileSync(join(FLEET, path), 'utf8')
    // the components of Flux keep their API groups
    return [[named(path), path.endsWith('gotk-components.yaml') ? text : named(text)] as const]
  })
  const base = (name: string) => readFileSync(join(FLEET, 'tenants/base/dev-team', name), 'utf8')
  const ops = `${base('rbac.yaml')}${base('sync.yaml')}`
    .replaceAll('dev-team', 'ops-team')
    .replace(/\bapps\b(?!\/v1)/g, 'ops')
  const all = Object.fromEntries(files)
  const list = all['infrastructure/kustomization.yaml']!.replace('- sandbox.yaml', '- sandbox.yaml\n  - ops-team.yaml')
  return write(scratch(), { ...all, 'infrastructure/kustomization.yaml': list, 'infrastructure/ops-team.yaml': ops })
}
