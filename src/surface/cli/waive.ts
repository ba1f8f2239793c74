import { BailiwickError } from '../../base/errors.ts'
import { firstNames } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { FLEET_FILE, type Waiver } from '../../fleet/model/fleet-config.ts'
import { askGit } from '../../git/run-git.ts'
import type { Tree } from '../../git/tree.ts'
import { openWorkingCopy } from '../../git/working-copy.ts'
import { display } from '../../kube/object.ts'
import type { Finding } from '../../rules/model/finding.ts'
import { Waivers } from '../../verdict/states.ts'
import { parseReason } from '../command/command-line.ts'
import { fleetFileWaivers, withoutWaivers, withWaivers } from '../command/fleet-file.ts'
import { checkedDay, waiverEntries } from '../command/waiver.ts'
import { BASE, COPY, copyOptions } from './check-options.ts'
import { type Command, type Io, today } from './command.ts'
import { evaluateCopy } from './evaluate-copy.ts'
import type { Given } from './given.ts'
import { printLines, table } from './terminal.ts'
import { rootFolder } from './working-copy.ts'
import { writeInside } from './write-inside.ts'

/** `bailiwick waive`: writes, lists and removes waivers in the fleet's file. */
export const waive: Command = {
  name: 'waive',
  usage: [
    ['[FINDING|RULE]', 'the beginning of a fingerprint (check -o json), or the id of a rule'],
    ['[OBJECT]', 'the object of the finding, KIND/NAMESPACE/NAME or KIND/NAME; needed with a rule'],
    ['[--until DATE]', 'last day, YYYY-MM-DD (default: in 30 days; at most 90 days from now)'],
    ['[--reason TEXT]', 'why it is accepted'],
    ['[--requester LOGIN]', 'who asks for it (default: user.name of git)'],
    ['[--approver LOGIN]', 'the fleet admin who accepts it, not the requester; without one it has no effect'],
    ['[--list]', 'list the waivers of the fleet, and change nothing'],
    ['[--remove]', 'remove the waivers of this finding, or of this rule and object'],
    BASE,
    ...COPY,
  ],
  notes: `The entry is written to ${FLEET_FILE} of the fleet: that of --fleet, else of the folder around this one.`,
  async run(given, io) {
    const options = copyOptions(given, io.cwd)
    const dir = await rootFolder(options.fleet ?? options.dir)
    const text = fleetFileText(await openWorkingCopy(dir))
    if (given.has('list')) return list(fleetFileWaivers(text), io)
    const [asked, object] = [given.one('FINDING|RULE'), given.one('OBJECT')]
    if (asked === undefined) throw given.wrong('FINDING or RULE is missing', 'bailiwick check -o json shows both.')
    const wanted = { asked, ...(object === undefined ? {} : { object: objectText(object) }) }
    const { edited, lines } = given.has('remove')
      ? removed(text, wanted)
      : await added(
          text,
          wanted,
          given,
          io,
          (await evaluateCopy(options, [], io.env ?? process.env)).verdict.violations,
        )
    await writeInside(dir, FLEET_FILE, edited)
    printLines(io, [...lines, `written to ${FLEET_FILE}: propose it in a pull request on the fleet's repository`])
    return 0
  },
}

/** The file of a fleet; undefined without one. */
export const fleetFileText = (tree: Tree): string | undefined =>
  tree.entry(FLEET_FILE)?.type === 'file' ? Buffer.from(tree.read(FLEET_FILE)).toString('utf8') : undefined

/** Who asks for a waiver. Throws `usage` where neither an option nor git names them. */
export async function requesterOf(given: Given, io: Io): Promise<string> {
  const requester = given.one('requester') ?? (await askGit(io.cwd, ['config', 'user.name']))?.toString().trim() ?? ''
  if (requester === '') throw given.wrong('--requester is missing', 'Name who asks for it.')
  return requester
}

interface Wanted {
  /** The beginning of a fingerprint, or a rule. */
  readonly asked: string
  /** As messages write it. */
  readonly object?: string
}

interface Edit {
  readonly edited: string
  readonly lines: readonly string[]
}

/** `Secret/shop/login` and `"Secret shop/login"` are the same object. */
const objectText = (text: string) => text.trim().replace(/^([^/ ]+)[/ ]/, '$1 ')

const isFinding = (asked: string) => /^[0-9a-f]{6,32}$/.test(asked)

async function added(
  text: string | undefined,
  wanted: Wanted,
  given: Given,
  io: Io,
  violations: readonly Finding[],
): Promise<Edit> {
  const findings = matching(violations, wanted)
  const usage = `bailiwick waive ${wanted.asked} ${wanted.object === undefined ? '' : 'OBJECT '}--until DATE --reason TEXT`
  const requester = await requesterOf(given, io)
  const approver = given.one('approver')
  const terms = {
    reason: parseReason([given.one('reason') ?? ''], usage),
    expires: checkedDay(given.one('until'), today()),
    requester,
    ...(approver === undefined ? {} : { approver }),
  }
  const entries = waiverEntries(findings, terms)
  return {
    edited: withWaivers(text, entries),
    lines: [
      ...entries.map(one => `waived ${one.rule}: ${nameOf(one)} on ${one.cluster}`),
      ...(approver === undefined
        ? ['It has no effect until a fleet admin is its approver: --approver LOGIN writes the name.']
        : []),
    ],
  }
}

/** The violations that are meant, or an error that says which there are. */
function matching(violations: readonly Finding[], { asked, object }: Wanted): readonly Finding[] {
  const present = violations.filter(({ state }) => state !== 'fixed')
  const isAsked = ({ rule, fingerprint }: Finding) =>
    isFinding(asked) ? fingerprint.startsWith(asked) : rule === asked
  const ofAsked = present.filter(isAsked)
  const found = ofAsked.filter(one => object === undefined || display(one.object) === object)
  const objects = [...new Set(ofAsked.map(one => display(one.object)))]
  const isClear = object !== undefined || (isFinding(asked) && new Set(found.map(one => one.fingerprint)).size === 1)
  if (found.length > 0 && isClear) return found
  const what = `${isFinding(asked) ? 'finding' : 'violation of rule'} ${JSON.stringify(visible(asked, 80))}`
  if (ofAsked.length === 0) {
    const rules = [...new Set(present.map(({ rule }) => rule))].sort()
    const fix =
      rules.length === 0
        ? 'Warnings do not block and need no waiver. Run bailiwick check for a list of violations.'
        : `Rules with violations: ${firstNames(rules, MAX_NAMED)}.`
    throw new BailiwickError('command-input', `no ${what}`, { fix })
  }
  const missing = object === undefined ? `${what}: OBJECT is missing` : `no ${what} of ${visible(object, 200)}`
  throw new BailiwickError('command-input', missing, {
    fix: `Objects: ${firstNames(objects, MAX_NAMED, name => visible(name))}.`,
  })
}

const MAX_NAMED = 20

function removed(text: string | undefined, { asked, object }: Wanted): Edit {
  const all = fleetFileWaivers(text)
  const meant = all.filter(one => {
    if (isFinding(asked)) return one.violations.some(({ fingerprint }) => fingerprint.startsWith(asked))
    return one.rule === asked && (object === undefined || nameOf(one) === object)
  })
  if (meant.length === 0) {
    const fix = 'bailiwick waive --list lists the waivers of the fleet.'
    throw new BailiwickError('command-input', `no waiver for ${JSON.stringify(visible(asked, 80))}`, { fix })
  }
  return {
    edited: withoutWaivers(text ?? '', meant),
    lines: meant.map(one => `removed ${one.rule}: ${nameOf(one)} on ${one.cluster ?? 'every cluster'}`),
  }
}

const nameOf = ({ kind, namespace, name }: Pick<Waiver, 'kind' | 'namespace' | 'name'>) =>
  visible(`${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`)

function list(all: readonly Waiver[], io: Io): number {
  const waivers = new Waivers(all, today())
  const rows = all.map(one => [
    one.rule,
    nameOf(one),
    one.cluster ?? 'all',
    one.expires,
    waivers.holds(one) ? 'holds' : one.expires < today() ? 'ended' : 'no approver',
  ])
  printLines(
    io,
    rows.length === 0 ? ['no waivers'] : table(['RULE', 'OBJECT', 'CLUSTER', 'UNTIL', 'STATE'], rows, io.columns),
  )
  return 0
}
