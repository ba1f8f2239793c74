/** The same answers, worked out once for each object as long as that is kept: most nodes stay the same through many changes. */
export function oncePer<Subject extends object, Answer>(
  answer: (subject: Subject) => Answer,
): (subject: Subject) => Answer {
  const known = new WeakMap<Subject, { readonly answer: Answer }>()
  return subject => {
    const before = known.get(subject)
    if (before) return before.answer
    const found = { answer: answer(subject) }
    known.set(subject, found)
    return found.answer
  }
}

/** The same by a name: `answers(subject, name, work)` works once for each object and name. */
export function oncePerName<Subject extends object, Answer>() {
  const known = oncePer((_: Subject) => new Map<string, { readonly answer: Answer }>())
  return (subject: Subject, name: string, work: () => Answer): Answer => {
    const answers = known(subject)
    const found = answers.get(name) ?? { answer: work() }
    answers.set(name, found)
    return found.answer
  }
}
