import { inputError, quote } from './checked-names.ts'
import { parseOnboardArguments } from './parse-command.ts'
import type { OnboardRequest } from './request.ts'
import { FORM_LABELS } from './tenant-request-form.ts'

/** What the issue form says. */
export interface TenantForm {
  readonly request: OnboardRequest
  /** Who works on it, as it was written: for people only. */
  readonly team?: string
}

type Field = keyof typeof FORM_LABELS

const LONGEST = 20_000
/** What GitHub writes for a field that was left empty. */
const NOTHING = '_No response_'

/**
 * Reads an issue that was opened with the form; undefined where it was not: it begins with another heading. `host`: where a
 * repository is that is named as `owner/name`. Throws `onboard-input` for what the command would refuse too.
 */
export function readTenantForm(body: string, host: string): TenantForm | undefined {
  const text = body.replace(/\r\n?/g, '\n').trimStart()
  if (!new RegExp(`^### ${FORM_LABELS.tenant}[ \\t]*(?:\\n|$)`).test(text)) return undefined
  if (text.length > LONGEST) throw inputError(`the issue has more than ${LONGEST} characters`, 'Use the form.')
  const fields = fieldsOf(text)
  const value = (field: Field) => fields.get(field)
  const one = (field: Field, option: string) => {
    const given = value(field)
    return given === undefined ? [] : [option, given]
  }
  const many = (field: Field, option: string) =>
    (value(field) ?? '').split(/[\s,]+/).flatMap(name => (name === '' ? [] : [option, name]))
  const repository = value('repository')
  const team = value('team')
  const request = parseOnboardArguments([
    ...(value('tenant') === undefined ? [] : [value('tenant')!]),
    ...(repository === undefined ? [] : ['--repo', addressOf(repository, host)]),
    ...many('namespaces', '--namespace'),
    ...many('clusters', '--cluster'),
    ...one('branch', '--branch'),
    ...one('path', '--path'),
    ...one('role', '--role'),
    ...one('access', '--access'),
    ...(team !== undefined && isTeam(team) ? ['--team', team] : []),
  ])
  return { request, ...(team === undefined ? {} : { team }) }
}

/** The answer below each heading that we know. What else stands there is for people; a form has no heading twice. */
function fieldsOf(text: string): ReadonlyMap<Field, string> {
  const fields = new Map<Field, string>()
  const seen = new Set<Field>()
  for (const section of text.split(/^### /m).slice(1)) {
    const end = section.indexOf('\n')
    const heading = (end < 0 ? section : section.slice(0, end)).trim()
    const field = (Object.keys(FORM_LABELS) as Field[]).find(key => FORM_LABELS[key] === heading)
    if (field === undefined) continue
    if (seen.has(field))
      throw inputError(`the heading ${quote(heading)} appears twice`, 'Use the form, and its fields once.')
    seen.add(field)
    const answer = (end < 0 ? '' : section.slice(end + 1)).trim()
    if (answer === '' || answer === NOTHING) continue
    const isList = field === 'namespaces' || field === 'clusters'
    if (!isList && answer.includes('\n')) {
      throw inputError(`${heading} has more than one line`, 'Write one line below each heading.')
    }
    fields.set(field, answer)
  }
  return fields
}

/** What CODEOWNERS can name; anything else is for people. */
const isTeam = (team: string) => /^@?[A-Za-z0-9][A-Za-z0-9-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/.test(team)

function addressOf(repository: string, host: string): string {
  return /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/.test(repository) ? `https://${host}/${repository}` : repository
}
