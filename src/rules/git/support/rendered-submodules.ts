import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import { quoted } from '../../../facts/shown.ts'
import { codeWord, message } from '../../../message/message.ts'
import type { Breach } from '../../model/rule.ts'
import { breachIn } from './in-repository.ts'
import { renderedDirectories } from './rendered-tree.ts'

/** Submodules in what is rendered: empty here, and whatever another repository holds where Flux recurses into them. */
export function* renderedSubmodules(repository: EvaluatedRepository): Generator<Breach> {
  for (const { facts, readerOf } of renderedDirectories(repository)) {
    for (const entry of facts.submodules) {
      const reader = readerOf(entry)
      if (!reader) continue
      yield breachIn(repository, reader, entry.path, {
        value: `submodule ${entry.path}`,
        message: message`${quoted('path', entry.path)} is a submodule: its content comes from another repository and is not evaluated. Allowed: files in this repository. Flux leaves it empty unless the source sets ${codeWord('spec.recurseSubmodules')}.`,
        fix: message`Copy the files into this repository, or declare the other repository as a source with its own Kustomization.`,
      })
    }
  }
}
