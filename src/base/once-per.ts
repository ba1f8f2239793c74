/** The same answers, worked out once for each object as long as that is kept: most nodes stay the same through many changes. */
export function oncePer<Subject extends object, Answer>(
  answer: (subject: Subject) => Answer,
): (subject: Subject) => Answer {
  const known = new WeakMap<Subject, Answer>()
  return subject => {
    const before = known.get(subject)
    if (before !== undefined || known.has(subject)) return before as Answer
    const found = answer(subject)
    known.set(subject, found)
    return found
  }
}

/** The same for texts, of which so many are kept. */
export function oncePerText<Answer>(most: number, answer: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>()
  return text => {
    const before = known.get(text)
    if (before !== undefined || known.has(text)) return before as Answer
    const found = answer(text)
    if (known.size >= most) known.clear()
    known.set(text, found)
    return found
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
