import { NO_ACCESS, TENANT_ACCESS, TENANT_ROLES } from './request.ts'

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
