import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { Config } from '../../src/config.ts'
import type { ObjectStore } from '../../src/git/object-store.ts'
import type { App } from '../../src/github/client/app.ts'
import type { Metrics } from '../../src/metrics/metrics.ts'
import type { Registry } from '../../src/oci/registry.ts'
import type { Outbox } from '../../src/outbox/outbox.ts'
import type { PageStore } from '../../src/pages/page-store.ts'
import type { StatementStore } from '../../src/pages/statement-store.ts'
import type { WorkStore } from '../../src/pages/work-store.ts'
import type { Log } from '../../src/process/log.ts'
import type { Queue } from '../../src/queue/queue.ts'
import type { Evaluator } from '../threads/evaluator.ts'
import type { DesignationMemory } from './designation-memory.ts'
import type { RepositoryMemory } from './repository-memory.ts'

/** What every job has at hand. Nothing in it is state of a job: a process that dies loses nothing with it. */
export interface WorkerContext {
  readonly config: Config
  readonly app: App
  readonly queue: Queue
  readonly store: ObjectStore
  /** Artifacts of the registries that the operator allows. */
  readonly registry: Registry
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly memory: RepositoryMemory
  /** Where the designations of installations were found last. */
  readonly designations: DesignationMemory
  /** The operator's clusters.yaml; empty: evaluate only. */
  readonly bindings: readonly ClusterBinding[]
  /** Where pages are kept, and where people find them; without an address checks link to none. */
  readonly pages: { readonly store: PageStore; readonly publicUrl: string | undefined }
  /** What is to be written on pull requests. */
  readonly statements: StatementStore
  /** Decisions on their way to the trails of fleets; absent: none are kept. */
  readonly outbox?: Outbox | undefined
  /** What is approved for clusters that have a worker of their own. */
  readonly work: WorkStore
  readonly metrics: Metrics
  /** Rules that are switched off for this process. */
  readonly disabledRules: readonly string[]
  readonly log: Log
}
