import type { ProbotOctokit } from 'probot'

/** The part of a GitHub client that this folder uses; whoever calls decides as whom it speaks. */
export type Octokit = Pick<InstanceType<typeof ProbotOctokit>, 'rest' | 'paginate' | 'request'>

/** A repository as GitHub's paths name it. */
export interface RepositoryName {
  readonly owner: string
  readonly repo: string
}

/** Who we are on GitHub: what we wrote is recognised by it, never by what a text claims. */
export interface AppIdentity {
  readonly id: number
  /** The login of our bot is `<slug>[bot]`. */
  readonly slug: string
}
