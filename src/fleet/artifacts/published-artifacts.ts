import { BailiwickError } from '../../errors.ts'
import { readUnlessLarge, type Tree, type TreeEntry } from '../../git/tree.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { Origin } from '../../origin.ts'
import type { OciReference } from './oci-reference.ts'
import { type Push, somewhere } from './run-script.ts'
import { runWorkflow } from './run-workflow.ts'
import { mayBe } from './symbolic.ts'
import { workflowEvents } from './workflow-events.ts'

/** What the artifact at an address holds, as the workflows of a repository say it. */
type Published =
  | { readonly folder: string; readonly ignore?: readonly string[]; readonly origin: Origin }
  /** Some workflow pushes there, and what it pushes is not what git has, or not known to be. */
  | { readonly why: string; readonly origin: Origin }

/** Where GitHub looks for workflows. */
export const WORKFLOWS = '.github/workflows'
const MAX_FILES = 300
const MAX_BYTES = 256 * 1024
/** Without one of these a file pushes no artifact. */
const MARK = /artifact|actions\/push|oras|crane|skopeo/

/** By the id of the folder with the workflows, the branch and the repository. */
const known = new Map<string, readonly Run[]>()
const MAX_KNOWN = 200

interface Run {
  readonly file: string
  readonly own: readonly Push[]
  readonly others: readonly Push[]
}

/**
 * What the workflows of a repository push to an address when its branch is pushed; `only`: those of this file. Undefined where
 * none of them does. Two that do not push the same, or one that also pushes there for something else than the branch, are a why.
 */
export function publishedAt(
  tree: Tree,
  repository: { readonly url: string; readonly branch: string },
  address: Required<OciReference>,
  only?: string,
): Published | undefined {
  const runs = runsOf(tree, repository).filter(({ file }) => only === undefined || file === only)
  const originOf = (file: string, { line }: Push): Origin => ({ repository: repository.url, file, line, column: 1 })
  const own = runs.flatMap(({ file, own }) => own.map(push => ({ push, origin: originOf(file, push) })))
  const here = own.filter(({ push }) => mayBe(push.repository, address.repository) && push.tag === address.tag)
  const exact = here.filter(({ push }) => push.repository === address.repository)
  const odd = here.find(({ push }) => push.why !== undefined || push.repository !== address.repository)
  if (odd) return { why: odd.push.why ?? 'its address is unknown', origin: odd.origin }
  const [first] = exact
  if (!first) {
    const maybe = own.find(({ push }) => mayBe(push.repository, address.repository) && mayBe(push.tag, address.tag))
    return maybe && { why: maybe.push.why ?? 'its tag or address is unknown', origin: maybe.origin }
  }
  const texts = new Set(exact.map(({ push }) => JSON.stringify(push.content)))
  if (texts.size > 1) return { why: 'several steps push different content there', origin: exact.at(-1)!.origin }
  if (only === undefined) {
    for (const { file, others } of runs) {
      const other = others.find(push => mayBe(push.repository, address.repository) && push.tag === address.tag)
      if (other)
        return {
          why: `it also pushes there from other refs than branch ${repository.branch}`,
          origin: originOf(file, other),
        }
    }
  }
  return { ...first.push.content!, origin: first.origin }
}

function runsOf(tree: Tree, { url, branch }: { readonly url: string; readonly branch: string }): readonly Run[] {
  const folder = tree.entry(WORKFLOWS)
  const name = /^https:\/\/github\.com\/([\w.-]+\/[\w.-]+)$/.exec(url)?.[1]
  if (folder?.type !== 'directory' || name === undefined) return []
  const key = `${folder.id} ${url} ${branch}`
  const before = folder.id === '' ? undefined : known.get(key)
  if (before) return before
  const files = tree.list(WORKFLOWS).filter(({ type, name }) => type === 'file' && /\.ya?ml$/.test(name))
  const isTooMany = files.length > MAX_FILES
  const runs = isTooMany
    ? [unknownRun(WORKFLOWS, '', `there are more than ${MAX_FILES} workflows`)]
    : files.flatMap(file => runOf(tree, file, name, branch))
  if (known.size >= MAX_KNOWN) known.clear()
  if (folder.id !== '') known.set(key, runs)
  return runs
}

function runOf(tree: Tree, { path }: TreeEntry, name: string, branch: string): Run[] {
  const bytes = readUnlessLarge(tree, path)
  const text = bytes ? Buffer.from(bytes).toString('latin1') : ''
  if (bytes && !MARK.test(text)) return []
  if (!bytes || bytes.length > MAX_BYTES) return [unknownRun(path, text, 'the workflow file is too large')]
  try {
    const workflow = parseDocuments({ repository: '', path }, bytes)[0]
    if (!workflow) return []
    const { own, others } = workflowEvents(workflow, branch)
    return [
      {
        file: path,
        own: own ? runWorkflow(workflow, { name }, own) : [],
        others: others.flatMap(trigger => runWorkflow(workflow, { name }, trigger)),
      },
    ]
  } catch (error) {
    if (error instanceof BailiwickError)
      return [unknownRun(path, text, `the workflow cannot be read: ${error.message}`)]
    throw error
  }
}

/** What a workflow may push that is not read: to any address that stands in it. */
const unknownRun = (file: string, text: string, why: string): Run => ({
  file,
  own: somewhere(text).map(target => ({ ...target, line: 1, why })),
  others: [],
})
