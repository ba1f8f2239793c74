import { changingFields, type Kustomization, readsOthers } from '../fields/kustomization.ts'
import type { Entry } from '../model/entry.ts'
import type { Level } from '../model/tolerance.ts'

/** What a level asks of the files of its build. */
interface LevelFiles {
  /** Text of what an entry, or fields, of a directory say and name. */
  hidden(directory: string, part: unknown): string
  /** Text of everything below a directory that the build reads. */
  hiddenBelow(directory: string): string
  /** The kustomization that an entry names, where it was read. */
  known(directory: string, entry: Entry): Kustomization | undefined
  /** Texts of all that the build has read. */
  readFiles(): readonly unknown[]
}

/** A level of a build; nothing is known of it until its kustomization is read. */
export class KustomizationLevel implements Level {
  #kustomization: Kustomization | undefined
  #files: LevelFiles | undefined
  #changes: string | undefined

  /** It is known only once it is read what the kustomization says. */
  is(kustomization: Kustomization, files: LevelFiles): void {
    this.#kustomization = kustomization
    this.#files = files
  }

  changes(): string {
    this.#changes ??= this.#kustomization && this.#files ? changesOf(this.#kustomization, this.#files) : ''
    return this.#changes
  }

  everything(): string {
    return JSON.stringify([this.changes(), this.#files?.readFiles() ?? []])
  }
}

/** A component changes what the kustomization that lists it has, so what it says counts like that one's own fields. */
function changesOf(kustomization: Kustomization, files: LevelFiles, chain: readonly string[] = []): string {
  const { directory, components, resources } = kustomization
  const fields = changingFields(kustomization)
  const own = fields.length === 0 ? '' : files.hidden(directory, fields)
  const read = readsOthers(kustomization) ? files.hiddenBelow(directory) : ''
  const inner = [...chain, directory]
  const added = components.map(entry => {
    const component = files.known(directory, entry)
    const isKnown = component !== undefined && !inner.includes(component.directory)
    return isKnown ? changesOf(component, files, inner) : files.hidden(directory, entry)
  })
  const parts = [own, read, ...added, ...resources.map(entry => settingsOf(directory, entry, files, inner))]
  const settings = parts.filter(part => part !== '')
  return settings.length === 0 ? '' : JSON.stringify(settings)
}

/** Which fields transformers write to goes up from a base to what uses it, and so to all that comes from there. */
function settingsOf(directory: string, entry: Entry, files: LevelFiles, chain: readonly string[]): string {
  const base = files.known(directory, entry)
  if (!base || chain.includes(base.directory)) return ''
  const { configurations, components, resources } = base
  const own = configurations.length === 0 ? '' : files.hidden(base.directory, configurations)
  const inner = [...chain, base.directory]
  const below = [...components, ...resources].map(one => settingsOf(base.directory, one, files, inner))
  const settings = [own, ...below].filter(part => part !== '')
  return settings.length === 0 ? '' : JSON.stringify(settings)
}
