import { containsPattern } from '../../expr/regexp/pattern.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { FLEET_FILE } from '../../fleet/model/fleet-config.ts'
import { parentOf, type Tree } from '../../git/tree.ts'
import { readKustomization, removeItems } from '../onboard/edit-kustomization.ts'
import { type Edits, editedTree, filesBelow, textAt } from './edited-tree.ts'
import type { OffboardRequest } from './request.ts'

/** Edits of files that no cluster reads, and what they leave to do by hand. */
interface SideEdits {
  readonly edits: Edits
  readonly notes: readonly string[]
}

const CODEOWNERS = ['CODEOWNERS', '.github/CODEOWNERS', 'docs/CODEOWNERS']
const SOPS = '.sops.yaml'

/**
 * The mentions of a tenant beside its manifests: lines of CODEOWNERS for paths that are gone, rules of `.sops.yaml` that match
 * only files that are gone, and, where the tenant leaves every cluster, its entries in the fleet's own file.
 */
export function sideEdits(
  tree: Tree,
  edits: Edits,
  { tenant }: OffboardRequest,
  clusters: readonly string[],
  fleet: Fleet,
): SideEdits {
  const after = editedTree(tree, edits)
  const made = new Map(edits)
  const notes: string[] = []
  const change = (path: string, text: string | undefined) => {
    if (text !== undefined && text !== textAt(after, path)) made.set(path, text)
  }
  const left = filesBelow(after, '')
  const gone = [...edits].filter(([, text]) => text === null).map(([path]) => path)
  for (const path of CODEOWNERS) change(path, codeOwners(textAt(after, path), tree, after))
  for (const path of left.filter(one => one.split('/').at(-1) === SOPS)) {
    change(
      path,
      tolerant(path, notes, () => sopsRules(path, textAt(after, path)!, gone, left)),
    )
  }
  const elsewhere = fleet.clusters.some(
    ({ name, owners }) => !clusters.includes(name) && [...(owners ?? [])].some(([, owner]) => owner === tenant),
  )
  const text = elsewhere ? undefined : textAt(after, FLEET_FILE)
  if (text !== undefined) {
    change(
      FLEET_FILE,
      tolerant(FLEET_FILE, notes, () => fleetFile(text, tenant, namespacesOf(fleet, tenant))),
    )
  }
  return made.size === edits.size && [...made].every(([path, one]) => edits.get(path) === one)
    ? { edits, notes }
    : { edits: made, notes }
}

/** A file beside the manifests that cannot be edited does not stop the offboarding. */
function tolerant(path: string, notes: string[], edit: () => string): string | undefined {
  try {
    return edit()
  } catch (error) {
    notes.push(`${path} was not edited: ${(error as Error).message}. Remove what names the tenant by hand.`)
    return undefined
  }
}

/** https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners */
function codeOwners(text: string | undefined, before: Tree, after: Tree): string | undefined {
  if (text === undefined) return undefined
  const isGone = (line: string) => {
    const [pattern = ''] = line.trim().split(/\s/, 1)
    const path = pattern.replace(/^\//, '').replace(/\/(?:\*{1,2})?$/, '')
    if (path === '' || /[*?[\]#!\\]/.test(path) || !path.includes('/')) return false
    return before.entry(path) !== undefined && after.entry(path) === undefined
  }
  return text
    .split('\n')
    .filter(line => !isGone(line))
    .join('\n')
}

function sopsRules(path: string, text: string, gone: readonly string[], left: readonly string[]): string {
  const rules = readKustomization({ path, text }).creation_rules
  const directory = parentOf(path)
  const below = (files: readonly string[]) =>
    files.flatMap(file => {
      if (directory === '') return [file]
      return file.startsWith(`${directory}/`) ? [file.slice(directory.length + 1)] : []
    })
  const [were, are] = [below(gone), below(left)]
  const isOf = (rule: unknown) => {
    const pattern = (rule as { path_regex?: unknown } | null)?.path_regex
    if (typeof pattern !== 'string' || pattern === '') return false
    const entry = { text: pattern, origin: { repository: '', file: path, line: 1, column: 1 } }
    const matches = (file: string) => containsPattern(entry, file, { spend: () => undefined })
    return were.some(matches) && !are.some(matches)
  }
  const list: readonly unknown[] = Array.isArray(rules) ? rules : []
  return removeItems({ path, text }, ({ key, index }) => key === 'creation_rules' && isOf(list[index]))
}

/** Namespaces that only this tenant has. */
function namespacesOf({ clusters }: Fleet, tenant: string): ReadonlySet<string> {
  const all = clusters.flatMap(({ owners }) => [...(owners ?? [])])
  const others = new Set(all.filter(([, owner]) => owner !== tenant).map(([namespace]) => namespace))
  return new Set(all.map(([namespace]) => namespace).filter(namespace => !others.has(namespace)))
}

function fleetFile(text: string, tenant: string, namespaces: ReadonlySet<string>): string {
  const file = { path: FLEET_FILE, text }
  const data = readKustomization(file)
  const itemOf = (key: string, index: number): Record<string, unknown> => {
    const item: unknown = (data[key] as readonly unknown[])[index]
    return item !== null && typeof item === 'object' ? (item as Record<string, unknown>) : {}
  }
  const left = removeItems(file, ({ key, index }) => {
    const item = itemOf(key, index)
    const of = key === 'waivers' ? (item.object as { namespace?: unknown } | undefined)?.namespace : item.namespace
    if (key === 'tenants') return item.name === tenant
    if (!['waivers', 'substituteFrom', 'accounts', 'sources'].includes(key)) return false
    return typeof of === 'string' && namespaces.has(of)
  })
  return left.trim() === '{}' ? '' : left
}
