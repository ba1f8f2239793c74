import type { Artifact } from '../../flux/artifact.ts'
import type { Aliases } from '../model/address-in.ts'
import type { Lockdown } from '../model/fleet.ts'
import type { AskedRepository } from '../model/read-access.ts'
import type { RenderMemory } from '../rendering/render-memory.ts'
import type { ReadContext } from '../sources/ask-read.ts'
import type { SourceIndex } from '../sources/source-index.ts'
import type { Sources } from '../sources/sources.ts'
import type { Delegated } from '../tenancy/delegated.ts'
import type { Tenancy } from '../tenancy/tenancy.ts'
import type { TenantBudgets } from '../tenancy/tenant-budgets.ts'
import type { TenantRepositories } from '../tenancy/tenant-repositories.ts'
import type { ValueIndex } from './value-index.ts'

/** What opening a node needs to know about its cluster. */
export interface NodeContext {
  readonly cluster: string
  readonly lockdown: Lockdown
  readonly sources: Sources
  readonly aliases: Aliases
  readonly index: SourceIndex
  readonly tenancy: Tenancy
  /** Repositories that the platform is known to have given to tenants. */
  readonly repositories: TenantRepositories
  readonly delegated: Delegated
  /** What each node rendered from. */
  readonly artifacts: Map<string, Artifact>
  /** Nodes whose source brings more than its own files, so any change of it counts. */
  readonly whole: Set<string>
  readonly values: ValueIndex
  /** Nodes that are rendered although values are missing, by key, and which were. */
  readonly missed: Map<string, Set<string>>
  readonly budgets: TenantBudgets
  /** The same for what is rendered again with holes. */
  readonly holeBudgets: TenantBudgets
  /** The same for what failed nodes read. */
  readonly readBudgets: TenantBudgets
  /** Without, everything is rendered anew. */
  readonly memory: RenderMemory | undefined
  /** By what it is decided what may be read; absent: everything. */
  readonly access: ReadContext | undefined
  /** What has to be known before it can be decided. */
  readonly asked: AskedRepository[]
}
