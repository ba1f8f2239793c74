import type { Octokit } from '../../src/github/octokit.ts'
import type { Installation } from '../combination/installation.ts'
import type { ReadableRepository } from '../combination/readable-repository.ts'

/** A repository as one installation reads it. */
export interface Subject {
  readonly installation: Installation
  readonly repository: ReadableRepository
  readonly octokit: Octokit
}
