import { pullNumbered } from './actions/merge-pull.ts'
import { refreshMergeability } from './actions/mergeability.ts'
import { protect, unprotect, type Wish } from './actions/protect.ts'
import { resolveCommit } from './actions/resolve.ts'
import { entryAt, flatten } from './git/trees.ts'
import {
  type Annotation,
  type CheckRun,
  type Comment,
  fullName,
  type Protection,
  type Pull,
  type QueueEntry,
  type Repository,
  type Role,
  type User,
  type World,
} from './world.ts'

interface Directory {
  userNamed(login: string): User
  repositoryNamed(name: string): Repository
}

interface ProtectionOptions {
  readonly branch?: string
  /** `appId` null or absent: any app. */
  readonly checks?: readonly { readonly context: string; readonly appId?: number | null }[]
  readonly strict?: boolean
  readonly enforceAdmins?: boolean
  readonly allowForcePushes?: boolean
  readonly allowDeletions?: boolean
  readonly requirePullRequest?: boolean
  /** Approving reviews; any number makes a pull request needed. */
  readonly approvals?: number
  readonly dismissStale?: boolean
  /** Merges go through a merge queue. */
  readonly mergeQueue?: boolean
  /** Who sets it; the owner of the repository when nobody is named. */
  readonly as?: string
}

/** What a test or the demo looks at, and the settings of a repository. */
export function views(world: World, { userNamed, repositoryNamed }: Directory) {
  function commitOf(repo: string, ref: string): string {
    const sha = resolveCommit(repositoryNamed(repo), ref)
    if (!sha) throw new Error(`${repo} has no ${ref}`)
    return sha
  }

  function setProtection(repo: string, options: ProtectionOptions): Protection {
    const repository = repositoryNamed(repo)
    const wish: Wish = {
      checks: (options.checks ?? []).map(({ context, appId }) => ({ context, appId: appId ?? null })),
      ...{ strict: options.strict ?? false, enforceAdmins: options.enforceAdmins ?? false },
      allowForcePushes: options.allowForcePushes ?? false,
      allowDeletions: options.allowDeletions ?? false,
      mergeQueue: options.mergeQueue ?? false,
      reviews:
        options.requirePullRequest || options.approvals !== undefined
          ? {
              ...{ approvals: options.approvals ?? 0, dismissStale: options.dismissStale ?? false, codeOwners: false },
              ...{ lastPush: false, resolved: false, methods: undefined },
            }
          : undefined,
    }
    const by = options.as === undefined ? repository.owner : userNamed(options.as)
    return protect(world, repository, options.branch ?? repository.defaultBranch, wish, by)
  }

  /** Takes the classic protection of a branch away. */
  function removeProtection(repo: string, { branch, as }: { branch?: string; as?: string } = {}): void {
    const repository = repositoryNamed(repo)
    const by = as === undefined ? repository.owner : userNamed(as)
    unprotect(world, repository, branch ?? repository.defaultBranch, by)
  }

  /** The merge queue of a branch, the first to be merged first. */
  function queueOf(repo: string, branch?: string): readonly QueueEntry[] {
    const repository = repositoryNamed(repo)
    return repository.queues.get(branch ?? repository.defaultBranch) ?? []
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
    ...{ readFile, filesOf, removeProtection, queueOf },
  }
}
