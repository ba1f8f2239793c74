import type { Octokit } from '../../src/github/client/octokit.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** A fleet in which keys are rotated. */
export interface RotationPlace {
  readonly context: WorkerContext
  /** Of the fleet, for writing. */
  readonly place: PublishTarget
  readonly reader: Octokit
  readonly installation: Installation
  readonly fleet: ReadableRepository
}

/** Somebody asks for a new key of a tenant. */
export interface RotationQuestion extends RotationPlace {
  readonly tenant: string
  /** Who asks. */
  readonly by: string
}
