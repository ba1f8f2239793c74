import { BailiwickError } from '../errors.ts'
import { mergeTrees } from '../git/merge-trees.ts'
import { openTree, readCommit } from '../git/read-commit.ts'
import { askGit } from '../git/run-git.ts'
import { openSnapshot } from '../git/snapshot.ts'
import type { Tree } from '../git/tree.ts'
import { isBareRepository, isWorkingCopy, openWorkingCopy } from '../git/working-copy.ts'
import { andMore } from '../message/and-more.ts'
import { visible } from '../message/visible.ts'
import type { TrailEntry } from '../trail/trail-entry.ts'
import type { TrailContent, TrailEvaluation, TrailInputs } from '../trail/trail-inputs.ts'

/** Contents of an entry, as clones on this machine have them. */
export interface RecordedContents {
  treeOf(content: TrailContent): Tree
  /** How many different ones. */
  readonly read: number
}

const MOST_LISTED = 10

/**
 * Finds each content of an entry by its git tree, in whichever folder has it: the tree of a commit, or of the files of an
 * artifact. A test merge that GitHub has forgotten is made again from its two commits. Throws `git-missing` with all others.
 */
export async function contentsOf(
  entry: TrailEntry,
  { fleets }: TrailInputs,
  dirs: readonly string[],
): Promise<RecordedContents> {
  const folders = await Promise.all(dirs.map(folderAt))
  const trees = new Map<string, Tree>()
  const missing = new Map<string, TrailContent>()
  for (const fleet of fleets) {
    for (const content of [...fleet.contents, ...fleet.earlier]) {
      if (trees.has(content.tree) || missing.has(content.tree)) continue
      const tree = (await find(folders, content.tree)) ?? (await merged(folders, entry, fleet, content))
      if (tree) trees.set(content.tree, tree)
      else missing.set(content.tree, content)
    }
  }
  if (missing.size > 0) throw missingContents(entry, [...missing.values()])
  return { treeOf: ({ tree }) => trees.get(tree)!, read: trees.size }
}

interface Folder {
  readonly dir: string
  readonly isClone: boolean
  /** The content of a folder that is not a clone. */
  readonly tree?: Tree
}

async function folderAt(dir: string): Promise<Folder> {
  const isClone = (await isWorkingCopy(dir)) || (await isBareRepository(dir))
  return isClone ? { dir, isClone } : { dir, isClone, tree: await openWorkingCopy(dir) }
}

async function find(folders: readonly Folder[], id: string): Promise<Tree | undefined> {
  for (const { dir, isClone, tree } of folders) {
    const found = isClone ? await openTree(dir, id) : tree?.id === id ? tree : undefined
    if (found) return found
  }
  return undefined
}

/** The test merge of a pull request: its head into what it was compared with. */
async function merged(
  folders: readonly Folder[],
  { commit: head }: TrailEntry,
  { base, contents }: TrailEvaluation,
  wanted: TrailContent,
): Promise<Tree | undefined> {
  const numbers = base ? [base.fleet, ...base.sources] : []
  const bases = numbers.flatMap(number => contents[number] ?? []).filter(one => one.repository === wanted.repository)
  if (head === undefined) return undefined
  for (const { commit } of bases) {
    for (const { dir, isClone } of folders) {
      const tree = isClone ? await mergeOf(dir, commit, head) : undefined
      if (tree?.id === wanted.tree) return tree
    }
  }
  return undefined
}

async function mergeOf(dir: string, ours: string, theirs: string): Promise<Tree | undefined> {
  const all = (await askGit(dir, ['merge-base', '--all', ours, theirs]))?.toString().trim().split('\n') ?? []
  const [common, other] = all
  if (!common || other !== undefined) return undefined
  const sides = await Promise.all([common, ours, theirs].map(commit => readCommit(dir, commit)))
  const result = mergeTrees(sides[0]!, sides[1]!, sides[2]!)
  return typeof result === 'string' ? undefined : openSnapshot(result.tree)
}

function missingContents({ pull }: TrailEntry, missing: readonly TrailContent[]): BailiwickError {
  const listed = missing
    .slice(0, MOST_LISTED)
    .map(({ repository, commit }) => visible(`${repository} at ${commit}`, 300))
  const more = andMore(missing.length - MOST_LISTED)
  const merge = pull === undefined ? '' : ` For a test merge, fetch the head and the base of pull request ${pull}.`
  return new BailiwickError('git-missing', `no given clone has ${listed.join(', ')}${more}`, {
    fix: `Run \`git fetch origin COMMIT\` in a clone of each, and give it with --repo URL=DIR.${merge}`,
  })
}
