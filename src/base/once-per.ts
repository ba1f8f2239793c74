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
