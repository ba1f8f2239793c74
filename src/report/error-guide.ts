import type { ErrorCode } from '../base/errors.ts'

/** What a person needs to know about an error code. Markdown, no links. */
export interface ErrorEntry {
  readonly code: ErrorCode
  /** When it is reported. */
  readonly means: string
  /** What to do about it. */
  readonly remedy: string
}

/** Codes that are also rules: docs/rules.md explains them. */
type OfRule =
  | 'yaml-ambiguous'
  | 'yaml-encoding'
  | 'invalid-object'
  | 'unknown-scope'
  | 'render-limits'
  | 'kustomize-multiple-files'
  | 'unrendered-variable'

const ENTRIES: Record<Exclude<ErrorCode, OfRule>, Omit<ErrorEntry, 'code'>> = {
  'yaml-syntax': {
    means: 'A file is not valid YAML, so no object in it can be read.',
    remedy: 'Correct the file at the line and column in the message.',
  },
  'graph-limits': {
    means: 'A fleet has more clusters or Kustomizations than Bailiwick evaluates, or they are nested too deeply.',
    remedy: 'Split the fleet, or remove the Kustomization that renders the others. The message contains the limit.',
  },
  'graph-conflict': {
    means:
      'Two objects of a cluster have the same kind, namespace and name, but different content, and what is applied depends on them. Two versions of a Kustomization are both evaluated if the platform renders them.',
    remedy: 'Rename one of them, or remove the copy. Flux would switch between the two versions.',
  },
  'kustomize-unsupported': {
    means: 'kustomize supports this input, and Bailiwick does not. It refuses to guess the result.',
    remedy: 'Write it in another way: docs/supported.md has a table of the fields and what is supported of each.',
  },
  'kustomize-invalid': {
    means: '`kustomize build` fails with this input, so Flux would not apply anything from this Kustomization.',
    remedy: 'Correct the kustomization file or the patch. `bailiwick render DIR` shows the same error.',
  },
  'kustomize-missing': {
    means: 'A kustomization file names a file or directory that does not exist at this commit.',
    remedy: 'Correct the path, or commit the missing file.',
  },
  'flux-unsupported': {
    means: 'Flux supports this input, and Bailiwick does not. It refuses to guess the result.',
    remedy:
      'Follow the fix in the message. docs/stricter-on-purpose.md explains where Bailiwick is stricter than Flux.',
  },
  'flux-invalid': {
    means: 'Flux would reject this object or field, so the Kustomization would not be applied.',
    remedy: 'Correct the field that the message names.',
  },
  'flux-missing-variable': {
    means:
      'A file uses a variable that no `postBuild` entry sets, or `substituteFrom` names an object that the fleet does not contain.',
    remedy: 'Set the variable, add the ConfigMap or Secret to the fleet, or declare it in `.github/bailiwick.yaml`.',
  },
  'path-not-found': {
    means:
      'A path does not exist: `spec.path` of a Kustomization in its source, or the directory of a cluster in the fleet.',
    remedy:
      'Correct the path. If Flux is bootstrapped somewhere else, name the directory under `clusters` in `.github/bailiwick.yaml`.',
  },
  'git-missing': {
    means: 'A file, directory or commit is not in the repository or folder that was read.',
    remedy: 'Check the name. In a shallow clone, fetch the missing commits (`git fetch --unshallow`).',
  },
  'git-corrupt': {
    means: 'An object of git does not have the content that its id stands for.',
    remedy: 'Run `git fsck` in a local clone. The App discards a damaged cache entry and reads it again.',
  },
  'git-truncated': {
    means: 'GitHub does not list all files or all pull requests of the repository because it has too many.',
    remedy: 'Move the files that clusters are built from to a repository of their own.',
  },
  'git-ambiguous': {
    means: 'A name can mean two things: a branch and a tag of the same name, or a file name that is not valid UTF-8.',
    remedy: 'Rename one of the two, or write the full ref name (`refs/heads/main`).',
  },
  'source-unreadable': {
    means:
      'The repository or artifact of a source could not be read, so nothing from it was evaluated. The change is blocked.',
    remedy:
      'Install the App on the repository, or list it under the repositories of the tenant. On the command line, pass `--repo URL=DIR`.',
  },
  'nothing-evaluated': {
    means:
      'No object was evaluated, so there is nothing to pass. Where nothing of the base could be evaluated either, the error is existing, and the change needs the approval of a fleet admin.',
    remedy:
      'Correct the errors that are listed with it, or the filter (`--tenant`, `--cluster`) that excludes everything.',
  },
  'not-followed': {
    means: 'No source of the fleet follows the current branch, or the repository that was given with `--repo`.',
    remedy: 'Use one of the URLs and refs in the message.',
  },
  'fleet-undesignated': {
    means: 'No fleet is designated to evaluate this repository, so its check stays blocked.',
    remedy:
      'An owner of the organization comments /bailiwick designate in the fleet repository, as docs/rollout.md describes.',
  },
  'github-unavailable': {
    means: 'GitHub does not answer, answers with an error, or limits the rate of requests.',
    remedy: 'Wait. The App tries again by itself, and the check stays pending until then.',
  },
  'merge-conflict': {
    means: 'The pull request conflicts with its base branch, so the merged result is unknown.',
    remedy: 'Resolve the conflict and push again.',
  },
  'check-shared': {
    means:
      'The rules of several branches require a check of one name. GitHub keeps checks by commit, so a pass for one branch would let the commit into the others.',
    remedy:
      'Run `/bailiwick gate` on the fleet, or edit the rules: the default branch requires `bailiwick / tenancy`, any other branch `bailiwick / tenancy (BRANCH)`.',
  },
  'not-permitted': {
    means: 'GitHub refuses a request because the App, or the person who asks, lacks a permission.',
    remedy:
      'Accept the requested permissions of the App in the settings of the organization, or ask a person with the right.',
  },
  'onboard-input': {
    means: 'A request to add a tenant has a missing or invalid value, or the tenant exists already.',
    remedy: 'Correct the value that the message names, and send the request again.',
  },
  'onboard-layout': {
    means:
      "The tenant's files cannot be placed: the layout of the fleet is not recognized, or two layouts are possible.",
    remedy: 'Follow the fix in the message, or add the tenant by hand and let the check evaluate it.',
  },
  'offboard-input': {
    means: 'A request to remove a tenant is incomplete, or names a tenant or cluster that does not exist.',
    remedy: 'Correct the request. `bailiwick offboard --help` lists the options.',
  },
  'offboard-layout': {
    means: "The tenant's objects cannot be removed without changing objects of others.",
    remedy: 'Separate them by hand at the line in the message, then run the command again.',
  },
  'sops-config': {
    means: '`.sops.yaml` cannot be used to seal a Secret: no rule matches the path, or a recipient is not supported.',
    remedy: 'Correct the rule. For recipients of a cloud service, run the `sops` command in the message.',
  },
  'adopt-input': {
    means: 'A request to adopt or lock down names something that the fleet does not have.',
    remedy: 'Use one of the names in the message. `bailiwick audit` lists the Kustomizations without an account.',
  },
  'adopt-layout': {
    means: 'The change cannot be written into the files of the fleet.',
    remedy: 'Make the change by hand, as the message describes.',
  },
  'adopt-not-proven': {
    means: 'It is not proven that the new account may apply every object, because something is not visible.',
    remedy: 'Make it visible (`--repo URL=DIR`, CustomResourceDefinitions of the kinds), then run the command again.',
  },
  'command-input': {
    means: 'A command in a comment is incomplete or has an unknown option.',
    remedy: 'Write the command as the answer shows it. `/bailiwick help` lists all commands.',
  },
  'cluster-unavailable': {
    means: "A cluster's API server does not answer, or answers with an error that may go away.",
    remedy: 'Check the server address, the credentials and the network. The worker tries again by itself.',
  },
  'cluster-forbidden': {
    means: 'The API server denies a request, or the target is the worker itself.',
    remedy: 'Grant the account that the message names the missing right, or remove the object from the fleet.',
  },
  'cluster-invalid': {
    means:
      'The API server rejects an object, an encrypted value cannot be decrypted, or an object does not become ready.',
    remedy: 'Correct the object, or give the worker the key that the message names.',
  },
  'cluster-conflict': {
    means: 'Another Kustomization or another client owns the object.',
    remedy: 'Keep the object in one of the two. It moves once the other Kustomization is approved without it.',
  },
  'cluster-fenced': {
    means: 'Another worker took over, so this worker stopped writing.',
    remedy: 'Nothing: this is the normal end of a handover. If it repeats, look for two workers with the same cluster.',
  },
  'cluster-controller-active': {
    means:
      'kustomize-controller is running on a cluster that the worker is asked to reconcile. Two controllers would compete.',
    remedy: 'Scale kustomize-controller to 0, or set `mode: gate` for this cluster in clusters.yaml.',
  },
  'web-unavailable': {
    means: 'The worker in a cluster cannot reach the web process, or is refused by it.',
    remedy: 'Check WEB_URL, WORKER_KEY_FILE and the network policy of the worker.',
  },
  'queue-unavailable': {
    means:
      'Redis does not answer, or the process is stopping. Events are not lost: the App compares its state with GitHub later.',
    remedy: 'Check REDIS_URL and the Redis server. Its policy must be `noeviction`.',
  },
  config: {
    means: 'A setting, clusters.yaml, or a file of the fleet such as `.github/bailiwick.yaml` is invalid.',
    remedy:
      'Correct the key that the message names. docs/settings.md, docs/worker.md and docs/fleet-file.md describe every setting and key.',
  },
  usage: {
    means: 'The command line is wrong: an unknown command, option or value.',
    remedy: 'Follow the usage in the message, or run `bailiwick help COMMAND`.',
  },
  'evaluation-limits': {
    means: 'Rendering exceeded the time or memory that one Kustomization may use, so it was not evaluated.',
    remedy: 'Render fewer objects, or ask the operator to raise RENDER_TIMEOUT_MS or RENDER_HEAP_MB.',
  },
  internal: {
    means: 'A bug of Bailiwick. The change is blocked, because nothing is known about it.',
    remedy: 'Report it with the message and the lines of the log from the same time.',
  },
}

/** Every error code that is not also a rule, in the order of `ErrorCode`. */
export const errorGuide: readonly ErrorEntry[] = Object.entries(ENTRIES).map(([code, entry]) => ({
  code: code as ErrorCode,
  ...entry,
}))
