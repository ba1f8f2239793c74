import { pullNumbered } from './actions/merge-pull.ts'
import { refreshMergeability } from './actions/mergeability.ts'
import { resolveCommit } from './actions/resolve.ts'
import { entryAt, flatten } from './git/trees.ts'
import {
  type Annotation,
  type CheckRun,
  type Comment,
  fullName,
  type Protection,
  type Pull,
  type Repository,
  type Role,
} from './world.ts'

interface Directory {
  repositoryNamed(name: string): Repository
}

export interface ProtectionOptions {
  readonly branch?: string
  /** `appId` null or absent: any app. */
  readonly checks?: readonly { readonly context: string; readonly appId?: number | null }[]
  readonly strict?: boolean
  readonly enforceAdmins?: boolean
  readonly allowForcePushes?: boolean
  readonly requirePullRequest?: boolean
}

/** What a test or the demo looks at, and the settings of a repository. */
export function views({ repositoryNamed }: Directory) {
  function commitOf(repo: string, ref: string): string {
    const sha = resolveCommit(repositoryNamed(repo), ref)
    if (!sha) throw new Error(`${repo} has no ${ref}`)
    return sha
  }

  function setProtection(repo: string, options: ProtectionOptions): Protection {
    const repository = repositoryNamed(repo)
    const protection: Protection = {
      checks: (options.checks ?? []).map(({ context, appId }) => ({ context, appId: appId ?? null })),
      strict: options.strict ?? false,
      enforceAdmins: options.enforceAdmins ?? false,
      allowForcePushes: options.allowForcePushes ?? false,
      requirePullRequest: options.requirePullRequest ?? false,
    }
    repository.protection.set(options.branch ?? repository.defaultBranch, protection)
    return protection
  }

  function setRole(repo: string, login: string, role: Role): void {
    repositoryNamed(repo).collaborators.set(login, role)
  }

  /** Check runs on a commit (or branch, or pull request ref), oldest first. */
  function checkRunsOf(repo: string, ref: string): CheckRun[] {
    const sha = commitOf(repo, ref)
    return repositoryNamed(repo).checkRuns.filter(run => run.headSha === sha)
  }

  const annotationsOf = (run: CheckRun): readonly Annotation[] => run.annotations

  function commentsOf(repo: string, number: number): Comment[] {
    return [...repositoryNamed(repo).comments.values()].filter(comment => comment.issue === number)
  }

  /** A pull request as it is now, its test merge computed without waiting. */
  function pullRequest(repo: string, number: number): Pull {
    const repository = repositoryNamed(repo)
    const pull = pullNumbered(repository, number)
    refreshMergeability(repository, pull)
    return pull
  }

  const pullRequestsOf = (repo: string): Pull[] => [...repositoryNamed(repo).pulls.values()]

  /** Text of a file at a ref. Throws when it is not there. */
  function readFile(repo: string, ref: string, path: string): string {
    const { store } = repositoryNamed(repo)
    const entry = entryAt(store, store.commit(commitOf(repo, ref))!.tree, path)
    const bytes = entry && store.blob(entry.sha)
    if (!bytes) throw new Error(`${fullName(repositoryNamed(repo))}@${ref} has no file ${path}`)
    return Buffer.from(bytes).toString()
  }

  /** Paths of all files at a ref. */
  function filesOf(repo: string, ref: string): string[] {
    const { store } = repositoryNamed(repo)
    return [...flatten(store, store.commit(commitOf(repo, ref))!.tree).keys()]
  }

  return {
    ...{ commitOf, setProtection, setRole, checkRunsOf, annotationsOf, commentsOf, pullRequest, pullRequestsOf },
    ...{ readFile, filesOf },
  }
}
