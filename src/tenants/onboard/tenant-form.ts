import { parseOnboardArguments } from './parse-command.ts'
import { inputError, NO_ACCESS, type OnboardRequest, quote, TENANT_ACCESS, TENANT_ROLES } from './request.ts'

/** Label of the issues that it makes. */
const TENANT_REQUEST_LABEL = 'tenant-request'

/** Headings of the form: GitHub writes `### <label>` above each answer. */
export const FORM_LABELS = {
  tenant: 'Tenant',
  repository: 'Repository',
  team: 'Team',
  namespaces: 'Namespaces',
  clusters: 'Clusters',
  role: 'Role',
  access: 'Access',
  branch: 'Branch',
  path: 'Path',
} as const

/**
 * The issue form for a new tenant, as a fleet commits it at .github/ISSUE_TEMPLATE/tenant-request.yml. `clusters`: names to offer as an example.
 * https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
 */
export function tenantRequestForm(clusters: readonly string[] = []): string {
  const names = clusters.filter(name => /^[a-z0-9][a-z0-9.-]*$/.test(name)).slice(0, 5)
  const example = names.length > 0 ? names.join(', ') : 'staging, production'
  return `name: Ask for a tenant
description: A team asks to deploy to this fleet from a repository of its own
title: 'Tenant: '
labels: [${TENANT_REQUEST_LABEL}]
body:
  - type: markdown
    attributes:
      value: Bailiwick answers with what the tenant would get; a pull request follows, and merging it is the approval.
${input('tenant', 'Name of the tenant: lower-case letters, digits and dashes.', 'ops-team', true)}
${input('repository', 'The repository to deploy from. You must administer it.', 'https://github.com/acme/ops-team', true)}
${input('team', 'The team that works on it, for the reviewers of this request.', 'acme/ops', false)}
${input('namespaces', 'Namespaces of the tenant, separated by commas. The first one holds its source and Kustomization.', 'ops', true)}
${input('clusters', 'Clusters of the tenant, separated by commas.', example, true)}
  - type: dropdown
    id: role
    attributes:
      label: ${FORM_LABELS.role}
      description: What its account may do inside its namespaces. It may do nothing outside of them.
      options: [${TENANT_ROLES.join(', ')}]
      default: 0
    validations:
      required: true
  - type: dropdown
    id: access
    attributes:
      label: ${FORM_LABELS.access}
      description: How the cluster reads a private repository. With deploy-key, Bailiwick makes the key; the others need a token or a GitHub App of yours.
      options: [${[NO_ACCESS, ...TENANT_ACCESS].join(', ')}]
      default: 0
    validations:
      required: true
${input('branch', 'The branch to deploy. Default: main.', 'main', false)}
${input('path', 'Directory of the repository. Default: the directory named after the cluster, else the root.', './deploy', false)}
`
}

function input(id: keyof typeof FORM_LABELS, about: string, example: string, required: boolean): string {
  return `  - type: input
    id: ${id}
    attributes:
      label: ${FORM_LABELS[id]}
      description: '${about}'
      placeholder: ${example.includes(',') ? `'${example}'` : example}
    validations:
      required: ${required}`
}

/** The answers of the issue form. */
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

/** The answer below each known heading. The rest is for people; a form has no heading twice. */
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
