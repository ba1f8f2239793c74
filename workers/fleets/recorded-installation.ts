import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import type { Installation } from '../context/installation.ts'

/** What an evaluation asked of an installation, and was answered: enough to evaluate the same again without command. */
export class InstallationRecord {
  /** By address of the repository and ref. */
  readonly heads = new Map<string, { readonly repository: number; url: string; ref: SourceRef; commit: string }>()
  readonly artifacts = new Map<string, { readonly url: string; ref: SourceRef; digest: string; tag?: string }>()
  readonly parents = new Map<string, { readonly repository: number; commit: string; parent: string }>()
  /** Only where the answer is yes. */
  readonly adopted = new Map<string, { readonly repository: number; commit: string; file: string; url: string }>()
  readonly names = new Map<string, { readonly owner: string; repo: string; id: number }>()
}

/** The same installation; the answers that an evaluation depends on are noted, the last one of each question. */
export function recordedInstallation(installation: Installation, record: InstallationRecord): Installation {
  const { registry } = installation
  return {
    ...installation,
    registry: {
      ...registry,
      headOf: async (url, followed) => {
        const head = await registry.headOf(url, followed)
        const ref = { registry: followed }
        if (head !== undefined) record.artifacts.set(JSON.stringify([url, ref]), { url, ref, ...head })
        return head
      },
    },
    head: async (repository, ref) => {
      const commit = await installation.head(repository, ref)
      const { id, url } = repository
      const key = JSON.stringify([url, ref])
      if (commit === undefined) record.heads.delete(key)
      else record.heads.set(key, { repository: id, url, ref, commit })
      return commit
    },
    leadsTo: async name => {
      const id = await installation.leadsTo(name)
      const key = `${name.owner}/${name.repo}`.toLowerCase()
      if (id === undefined) record.names.delete(key)
      else record.names.set(key, { ...name, id })
      return id
    },
    isAdopted: async (declared, name) => {
      const isAdopted = await installation.isAdopted(declared, name)
      const place = { ...declared, repository: declared.repository.id }
      if (isAdopted) record.adopted.set(JSON.stringify(place), place)
      return isAdopted
    },
    parent: async (repository, commit) => {
      const parent = await installation.parent(repository, commit)
      if (parent !== undefined) record.parents.set(commit, { repository: repository.id, commit, parent })
      return parent
    },
  }
}
