import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toJson } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'

const TABLE = join(import.meta.dirname, '../../src/flux/installed-rbac.json')
const FILES = ['controller', 'edit', 'reconciler', 'view']

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly rules?: readonly { readonly [list: string]: readonly string[] }[]
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[]
}

/** The roles and bindings among the documents of some files, as src/flux/installed-rbac.json holds them, without `since`. */
export function installedRbacRows(texts: readonly string[]): Record<string, unknown>[] {
  const documents = texts.flatMap(text => parseDocuments({ repository: '', path: '' }, new TextEncoder().encode(text)))
  return documents
    .map(document => toJson(document) as unknown as Manifest)
    .filter(({ kind }) => /^ClusterRole(Binding)?$/.test(kind))
    .map(rowOf)
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
}

const idOf = ({ role, binding }: Record<string, unknown>) => (role ? `role ${role}` : `binding ${binding}`)

function rowOf({ kind, metadata: { name, labels = {} }, rules = [], roleRef, subjects = [] }: Manifest) {
  if (kind === 'ClusterRoleBinding') {
    const named = subjects.map(subject => `${subject.kind} ${subject.namespace}/${subject.name}`)
    return { binding: name, roleRef: roleRef!.name, subjects: named }
  }
  const aggregated = Object.keys(labels).filter(key => key.includes('aggregate-to-'))
  return {
    role: name,
    ...(aggregated.length > 0 ? { aggregatedTo: aggregated.map(key => key.slice(key.lastIndexOf('-') + 1)) } : {}),
    rules: rules.map(({ verbs = [], apiGroups = [], resources = [], nonResourceURLs }) =>
      (nonResourceURLs ? [verbs, nonResourceURLs] : [verbs, apiGroups, resources])
        .map(list => list.join(','))
        .join(' '),
    ),
  }
}

/** Writes the table anew from a clone of fluxcd/flux2 with its tags: node test/flux/installed-rbac-table.ts CLONE, then biome. */
if (import.meta.main) {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', process.argv[2]!, ...args], { encoding: 'utf8' })
  const releases = git('tag', '--list', 'v2.*', '--sort=version:refname').split('\n')
  const last = new Map<string, string>()
  const rows = releases
    .filter(tag => /^v2\.\d+\.\d+$/.test(tag))
    .flatMap(tag =>
      installedRbacRows(FILES.map(name => git('show', `${tag}:manifests/rbac/${name}.yaml`))).flatMap(row => {
        const text = JSON.stringify(row)
        if (last.get(idOf(row)) === text) return []
        last.set(idOf(row), text)
        return [{ since: tag.slice(1), ...row }]
      }),
    )
  writeFileSync(TABLE, `${JSON.stringify(rows)}\n`)
}
