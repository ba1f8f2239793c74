import { issueChanged } from '../events/issue-changed.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { labelJson } from '../json/label.ts'
import { type Issue, type Label, now, type Repository, type User, type World } from '../world.ts'
import { recordEvent } from './issue-event.ts'

const MOST_NAME = 50
const MOST_LABELS = 100

/** What a new repository has (docs, "Managing labels"). */
const DEFAULTS = {
  bug: ['d73a4a', "Something isn't working"],
  documentation: ['0075ca', 'Improvements or additions to documentation'],
  duplicate: ['cfd3d7', 'This issue or pull request already exists'],
  enhancement: ['a2eeef', 'New feature or request'],
  'good first issue': ['7057ff', 'Good for newcomers'],
  'help wanted': ['008672', 'Extra attention is needed'],
  invalid: ['e4e669', "This doesn't seem right"],
  question: ['d876e3', 'Further information is requested'],
  wontfix: ['ffffff', 'This will not be worked on'],
} as const

/** Gives a repository the labels that every new one has; no event tells of them. */
export function addDefaultLabels(world: World, repository: Repository): void {
  for (const [name, [color, description]] of Object.entries(DEFAULTS)) {
    repository.labels.set(name, { id: world.nextId(), name, color, description, isDefault: true })
  }
}

/** Makes a label of the repository. Throws 422 for a name that is there, empty or longer than 50 characters. */
export function createLabel(
  world: World,
  repository: Repository,
  by: User,
  { name, color = 'ededed', description = null }: { name: string; color?: string; description?: string | null },
): Label {
  checkName(name)
  if (repository.labels.has(name.toLowerCase())) throw taken()
  const label = { id: world.nextId(), name, color, description, isDefault: false }
  repository.labels.set(name.toLowerCase(), label)
  world.emit(repository, by, 'label', { action: 'created', label: labelJson(world, repository, label) })
  return label
}

/** Renames or repaints a label, on all issues that have it. Throws 422 as `createLabel` does. */
export function changeLabel(
  world: World,
  repository: Repository,
  by: User,
  label: Label,
  wanted: { name?: string | undefined; color?: string | undefined; description?: string | undefined },
): void {
  const { name: before, color, description } = label
  const { name = before } = wanted
  checkName(name)
  const known = repository.labels.get(name.toLowerCase())
  if (known && known !== label) throw taken()
  repository.labels.delete(before.toLowerCase())
  Object.assign(label, { name, color: wanted.color ?? color, description: wanted.description ?? description })
  repository.labels.set(name.toLowerCase(), label)
  for (const { labels } of repository.issues.values()) {
    const at = labels.indexOf(before)
    if (at >= 0) labels[at] = name
  }
  const changes = {
    ...(name === before ? {} : { name: { from: before } }),
    ...(label.color === color ? {} : { color: { from: color } }),
    ...(label.description === description ? {} : { description: { from: description ?? '' } }),
  }
  world.emit(repository, by, 'label', { action: 'edited', label: labelJson(world, repository, label), changes })
}

/** Deletes a label of the repository, and takes it off every issue without a further event. */
export function deleteLabel(world: World, repository: Repository, by: User, label: Label): void {
  repository.labels.delete(label.name.toLowerCase())
  for (const { labels } of repository.issues.values()) {
    const at = labels.indexOf(label.name)
    if (at >= 0) labels.splice(at, 1)
  }
  world.emit(repository, by, 'label', { action: 'deleted', label: labelJson(world, repository, label) })
}

/** Puts labels onto an issue or pull request, one event for each that is new on it; makes those the repository lacks. */
export function addLabels(
  world: World,
  repository: Repository,
  issue: Issue,
  names: readonly string[],
  by: User,
): void {
  if (new Set([...issue.labels, ...names]).size > MOST_LABELS) {
    throw new HttpError(422, `Validation Failed: issues can have at most ${MOST_LABELS} labels`)
  }
  for (const name of names) {
    const label = repository.labels.get(name.toLowerCase()) ?? createLabel(world, repository, by, { name })
    if (issue.labels.includes(label.name)) continue
    issue.labels.push(label.name)
    announce(world, repository, issue, 'labeled', label, by)
  }
}

/** Takes a label off. Throws 404 when it is not on it. */
export function removeLabel(world: World, repository: Repository, issue: Issue, name: string, by: User): void {
  const label = repository.labels.get(name.toLowerCase())
  const at = label ? issue.labels.indexOf(label.name) : -1
  if (!label || at < 0) throw new HttpError(404, 'Label does not exist')
  issue.labels.splice(at, 1)
  announce(world, repository, issue, 'unlabeled', label, by)
}

/** Makes the labels of an issue exactly those. */
export function setLabels(
  world: World,
  repository: Repository,
  issue: Issue,
  names: readonly string[],
  by: User,
): void {
  const wanted = new Set(names.map(name => name.toLowerCase()))
  for (const name of [...issue.labels]) {
    if (!wanted.has(name.toLowerCase())) removeLabel(world, repository, issue, name, by)
  }
  addLabels(world, repository, issue, names, by)
}

function announce(
  world: World,
  repository: Repository,
  issue: Issue,
  action: 'labeled' | 'unlabeled',
  label: Label,
  by: User,
): void {
  issue.updatedAt = now()
  recordEvent(world, issue, action, by, label)
  issueChanged(world, repository, issue, action, by, { label: labelJson(world, repository, label) })
}

function checkName(name: string): void {
  if (name.trim() === '') throw invalid('Label', 'name')
  if (name.length > MOST_NAME) throw invalid('Label', 'name', `name is too long (maximum is ${MOST_NAME} characters)`)
}

function taken(): HttpError {
  return new HttpError(422, 'Validation Failed', [{ resource: 'Label', field: 'name', code: 'already_exists' }])
}
