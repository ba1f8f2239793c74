import { BailiwickError } from '../../errors.ts'
import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { BUCKET, GIT_REPOSITORY, OCI_REPOSITORY } from '../../flux/kinds.ts'
import { packTree } from '../../flux/pack-tree.ts'
import { entriesBelow, type Tree } from '../../git/tree.ts'
import { stringAt } from '../../kube/node.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { violationIn } from './support/in-repository.ts'
import { renderedDirectories } from './support/rendered-tree.ts'

/** What Flux leaves out of an artifact unless an ignore file says otherwise, that somebody could deploy from. */
const DEFAULTS =
  /^(?:\*\*\/|\/)*(?:\.\*|\.git(?:hub|ignore|modules|attributes|lab-ci\.yml)?|\.circleci|\.travis\.yml|appveyor\.yml|\.drone\.yml|cloudbuild\.yaml|codeship-[a-z]+\.yml|\.goreleaser\.yml|\.sops\.yaml|\.flux\.yaml|\*\.(?:jpe?g|gif|png|wmv|flv|tar\.gz|zip))(?:\/|$)/

/** What is reviewed is what is packed. */
export const sourceIgnoreTamper: Rule = {
  id: 'source-ignore-tamper',
  severity: 'high',
  title: 'Ignore pattern that changes deployed content',
  why: '`spec.ignore` and .sourceignore decide which files Flux reads. A pattern that restores default exclusions (.github, archives) deploys files that reviewers do not expect. A pattern that excludes a manifest removes its objects from the cluster although the file is still in git.',
  source: 'fluxcd/pkg sourceignore',
  docs: 'Exclude files that are not deployed with plain patterns, such as `/*` followed by `!/deploy`. Delete files that should no longer be deployed.',
  kinds: [GIT_REPOSITORY, BUCKET, OCI_REPOSITORY],
  *checkObject(subject) {
    const text = stringAt(subject.object.root, ['spec', 'ignore'])
    if (subject.node.tenant === undefined || text === undefined) return
    for (const { pattern } of reincluded(text)) yield inSource(subject, pattern)
  },
  *checkRepository(repository) {
    for (const { path, facts, reader } of renderedDirectories(repository)) {
      const node = reader ?? (path === '' ? repository.nodes[0] : undefined)
      if (!facts.ignore || !node || (node.tenant === undefined && path !== '')) continue
      yield* inFile(repository, node, facts.ignore.path)
    }
    yield* hiddenNow(repository)
  },
}

function reincluded(text: string): { pattern: string; line: number }[] {
  return text.split('\n').flatMap((line, index) => {
    const pattern = line.trim()
    return pattern.startsWith('!') && DEFAULTS.test(pattern.slice(1)) ? [{ pattern, line: index + 1 }] : []
  })
}

function inSource({ object, id, node }: Subject, pattern: string): Violation {
  return {
    node,
    object,
    path: ['spec', 'ignore'],
    value: pattern,
    message: message`${objectPart(id.kind, id.namespace, id.name)} includes ${quoted('value', pattern)}, which Flux excludes from artifacts by default: it deploys manifests from there. Allowed: patterns that exclude files.`,
    fix: message`Remove this pattern.`,
  }
}

function* inFile(repository: EvaluatedRepository, node: FleetNode, file: string): Generator<Violation> {
  const bytes = repository.tree.read(file)
  for (const { pattern, line } of reincluded(Buffer.from(bytes).toString('utf8'))) {
    yield violationIn(repository, node, file, {
      line,
      value: pattern,
      message: message`${quoted('path', file)} includes ${quoted('value', pattern)}, which Flux excludes from artifacts by default: it deploys manifests from there. Allowed: patterns that exclude files.`,
      fix: message`Remove this pattern.`,
    })
  }
}

/** Manifests that were packed before the change, are still there, and are packed no more. */
function* hiddenNow(repository: EvaluatedRepository): Generator<Violation> {
  const { tree, before, nodes } = repository
  if (!before || before.id === tree.id) return
  const now = new Map<string, Tree | undefined>()
  const seen = new Set<string>()
  for (const node of nodes) {
    if (node.tenant === undefined || node.source.includes) continue
    const start = artifactPath(node.path)
    // of several nodes that read a directory the first one is told, as by the other rules about files
    if (seen.has(start)) continue
    seen.add(start)
    if (before.entry(start)?.id === tree.entry(start)?.id && ignoreId(before) === ignoreId(tree)) continue
    for (const file of manifestsBelow(tree, start)) {
      if (!before.entry(file) || isPacked(tree, file, now) || !isPacked(before, file, now)) continue
      yield violationIn(repository, node, file, {
        value: `hidden ${file}`,
        message: message`${quoted('path', file)} is still in the repository, but a ${codeWord('.sourceignore')} now excludes it: Flux deletes its objects from the cluster. Allowed: deployed files that no pattern excludes.`,
        fix: message`Delete the file, or remove the pattern that excludes it.`,
      })
    }
  }
}

const ignoreId = (tree: Tree) => tree.entry('.sourceignore')?.id

function* manifestsBelow(tree: Tree, directory: string): Generator<string> {
  for (const { type, name, path } of entriesBelow(tree, directory))
    if (type === 'file' && /\.ya?ml$/.test(name)) yield path
}

function isPacked(tree: Tree, file: string, packed: Map<string, Tree | undefined>): boolean {
  if (!packed.has(tree.id)) packed.set(tree.id, tryPack(tree))
  return packed.get(tree.id)?.entry(file) !== undefined
}

/** What cannot be packed is an error of every node that follows it. */
function tryPack(tree: Tree): Tree | undefined {
  try {
    return packTree(tree)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return undefined
  }
}
