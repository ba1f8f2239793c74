import { type Message, message, part } from '../../base/message.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { followedBy, readRef } from '../../fleet/facts/sources.ts'
import { GIT_REPOSITORY, IMAGE_UPDATE_AUTOMATION } from '../../kube/flux-kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'

/** Where the API versions set what is pushed, and the commit's text. */
const PUSHES: readonly Path[] = [
  ['spec', 'git', 'push'],
  ['spec', 'push'],
]
const CHECKOUTS: readonly Path[] = [
  ['spec', 'git', 'checkout', 'ref', 'branch'],
  ['spec', 'checkout', 'branch'],
]
const COMMITS: readonly Path[] = [
  ['spec', 'git', 'commit'],
  ['spec', 'commit'],
]

/** An automation's changes go through a pull request too. */
export const imageAutomationPush: Rule = {
  id: 'image-automation-push',
  severity: 'critical',
  title: 'Image automation that pushes to a deployed branch',
  why: 'An ImageUpdateAutomation pushes with the deploy key of its source. Flux deploys its commits on a followed branch without an evaluation.',
  source: 'image-automation-controller docs/spec/v1/imageupdateautomations.md, "Push"',
  docs: 'Set `spec.git.push.branch` to a branch that no source follows, and open a pull request from it with a workflow. Without the field, the automation pushes to the branch that it checks out. To allow pushes to followed branches, set this rule to `warning` in `severities`. The commit message must not skip checks or contain commands.',
  kinds: [IMAGE_UPDATE_AUTOMATION],
  *checkTenantObject(subject, context) {
    yield* evaluatePush(subject, context)
    yield* evaluateMessage(subject)
  },
}

function* evaluatePush(subject: Subject, context: RuleContext): Iterable<Violation> {
  const source = sourceOf(subject, context)
  const url = source && followedBy(source, context.config.aliases).url
  for (const { path, branch } of targetsOf(subject.object, source)) {
    const isAccepted = source !== undefined && !isRefused(subject, source, context)
    const follower = url === undefined || !isAccepted ? undefined : context.index.followerOf(url, { branch })
    const isEvery = branch.includes('*')
    // for an unknown source, the branch that is checked out is the one that is followed
    const isCheckedOut = branch === '' || branch === checkedOut(subject.object, source)
    if (follower === undefined && !isEvery && !isCheckedOut) continue
    const where = branch === '' ? 'the branch that it checks out' : message`branch ${quoted('branch', branch)}`
    yield violation(
      subject,
      path,
      branch,
      message`pushes to ${where}${url ? message` of ${quoted('repository', url)}` : ''}, which a source deploys`,
    )
  }
}

function isRefused({ node }: Subject, source: KubeObject, { index }: RuleContext): boolean {
  const { namespace, name } = idOf(source)
  return index.isRefused(node.cluster, namespace, name)
}

function sourceOf({ object, id, node }: Subject, { index }: RuleContext): KubeObject | undefined {
  const old = ['spec', 'checkout', 'gitRepositoryRef']
  const reference = at(object.root, ['spec', 'sourceRef']) ?? at(object.root, old)
  const name = stringAt(reference, ['name'])
  const namespace = stringAt(reference, ['namespace']) || id.namespace
  return name ? index.versionsOf(node.cluster, GIT_REPOSITORY, namespace, name).at(-1)?.object : undefined
}

function targetsOf(object: KubeObject, source: KubeObject | undefined): { path: Path; branch: string }[] {
  const push = PUSHES.find(path => at(object.root, path)?.type === 'map')
  const branch = push && stringAt(object.root, [...push, 'branch'])
  const refspec = push && stringAt(object.root, [...push, 'refspec'])
  const targets: { path: Path; branch: string }[] = []
  if (push && branch && !branch.includes('${')) targets.push({ path: [...push, 'branch'], branch: plain(branch) })
  if (push && refspec && !refspec.includes('${')) {
    const target = refspec.slice(refspec.indexOf(':') + 1)
    targets.push({ path: [...push, 'refspec'], branch: plain(target.replace(/^\+/, '')) })
  }
  if (!branch && !refspec) targets.push({ path: push ?? ['spec', 'git'], branch: checkedOut(object, source) })
  return targets
}

const plain = (ref: string) => ref.trim().replace(/^refs\/heads\//, '')

/** The branch that the automation works on; '' if not known. */
function checkedOut(object: KubeObject, source: KubeObject | undefined): string {
  const written = CHECKOUTS.map(path => stringAt(object.root, path)).find(text => text)
  return written ? plain(written) : ((source && readRef(source, ['spec', 'ref']).branch) ?? '')
}

/** Words by which a commit bypasses checks, or claims a review. */
const SKIPS = /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\bskip-checks:\s*true|\*{3}NO_CI\*{3}/i
const CLAIMS = /^\s*(?:approved|acked|reviewed|signed-off|tested|co-authored)-by\s*:/im

function* evaluateMessage(subject: Subject): Iterable<Violation> {
  for (const commit of COMMITS) {
    const path = [...commit, 'messageTemplate']
    const text = subject.text(path) ?? ''
    const what = SKIPS.test(text) ? 'skips checks' : CLAIMS.test(text) ? 'claims an approval' : undefined
    if (what) {
      yield {
        ...violation(subject, path, what, message`writes a commit message that ${what}`),
        level: 'warning',
        severity: 'low',
      }
    }
    yield* evaluateAuthor(subject, [...commit, 'author'])
  }
}

/** Bots of GitHub and others, which people and repository rules trust. */
const TRUSTED =
  /^(?:github|web-flow|admin(?:istrator)?)$|^noreply@github\.com$|(?:^|\+)(?:github-actions|dependabot|renovate)(?:\[bot\])?(?:@|$)/i

function* evaluateAuthor(subject: Subject, path: Path): Iterable<Violation> {
  for (const field of ['name', 'email']) {
    const text = subject.text([...path, field])?.trim() ?? ''
    if (!TRUSTED.test(text)) continue
    const what = message`writes its commits as ${quoted('value', text)}`
    const fix = message`Set spec.git.commit.author to a separate name for the automation.`
    yield { ...violation(subject, [...path, field], text, what), fix, level: 'warning', severity: 'low' }
  }
}

/** The field that says where it goes, as it is written. */
function fixAt(path: Path): Message {
  const field = part('field', path.join('.'))
  if (path.at(-1) === 'refspec')
    return message`Set ${field} to a reference whose target is a branch that no source follows, or remove it.`
  if (path.at(-1) === 'messageTemplate') return message`Remove these words from ${field}.`
  const branch =
    path.at(-1) === 'branch'
      ? field
      : part('field', `${path.at(-1) === 'push' ? path.join('.') : 'spec.git.push'}.branch`)
  return message`Set ${branch} to a branch that no source follows.`
}

function violation(subject: Subject, path: Path, value: string, what: Message): Violation {
  // the rule cross-namespace-ref reports another namespace, with Flux's answer
  const isHere = [undefined, '', subject.id.namespace].includes(subject.text(['spec', 'sourceRef', 'namespace']))
  const problem = message`${subject.who} ${what}. Allowed: its own name, a plain commit message, and branches that no source follows.${isHere ? ' Flux accepts it.' : ''}`
  return subject.violation(path, value, { message: problem, fix: fixAt(path) })
}
