import type { Octokit } from '../../src/github/client/octokit.ts'
import type { Installation } from './installation.ts'
import type { ReadableRepository } from './readable-repository.ts'

/** A repository as one installation reads it. */
export interface OpenedRepository {
  readonly installation: Installation
  readonly repository: ReadableRepository
  readonly octokit: Octokit
}
