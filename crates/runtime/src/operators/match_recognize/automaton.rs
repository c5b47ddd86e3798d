//! The pattern as an automaton: which rows a partial match can take in each of its states.
//!
//! Rows follow each other without a gap, so a state has at most one edge that takes a row, and one that leads to a later state
//! without one. Where several runs of variables overlap, the automaton goes all ways at once.

use base::plan::PatternVariable;

/// The number of a variable in the pattern.
pub(super) type Variable = u16;
/// The number of a state.
pub(super) type StateId = u32;

/// The state of a complete match.
pub(super) const END: StateId = 0;

/// What must be true of a row for an edge.
#[derive(Debug, Clone, Default)]
struct Guard {
    /// The row satisfies this variable.
    is: Option<Variable>,
    /// The row satisfies none of these: the greedy variables right before.
    is_not: Vec<Variable>,
}

impl Guard {
    fn admits(&self, is: &impl Fn(Variable) -> bool) -> bool {
        self.is.is_none_or(is) && !self.is_not.iter().any(|&variable| is(variable))
    }

    fn variables(&self) -> impl Iterator<Item = Variable> + '_ {
        self.is.iter().chain(&self.is_not).copied()
    }
}

#[derive(Debug, Clone, Default)]
struct State {
    /// Takes the row for the variable of its guard.
    take: Option<(StateId, Guard)>,
    /// Goes on without a row.
    proceed: Option<(StateId, Guard)>,
    /// The variables that decide what a row does here.
    questions: Vec<Variable>,
}

/// The automaton of a pattern.
#[derive(Debug)]
pub(super) struct Automaton {
    states: Vec<State>,
    start: StateId,
}

impl Automaton {
    /// The automaton of variables that stand one after the other.
    pub fn new(variables: &[PatternVariable]) -> Automaton {
        let mut automaton = Automaton { states: vec![State::default()], start: END };
        for (number, variable) in variables.iter().enumerate().rev() {
            automaton.start = automaton.prepend(number as Variable, variable, automaton.start);
        }
        for state in 0..automaton.states.len() {
            automaton.states[state].questions = automaton.questions_of(state as StateId);
        }
        automaton
    }

    /// The state in which no row has been taken.
    pub fn start(&self) -> StateId {
        self.start
    }

    /// The variables whose conditions decide what becomes of a partial match in this state.
    pub fn questions(&self, state: StateId) -> &[Variable] {
        &self.states[state as usize].questions
    }

    /// The edges along which a row is taken: the variable, and the state behind it.
    pub fn takes(&self, state: StateId, is: &impl Fn(Variable) -> bool, out: &mut Vec<(Variable, StateId)>) {
        out.clear();
        let mut next = Some(state);
        while let Some(state) = next.take() {
            let State { take, proceed, .. } = &self.states[state as usize];
            if let Some((target, guard)) = take
                && let Some(variable) = guard.is
                && guard.admits(is)
            {
                out.push((variable, *target));
            }
            next = proceed.as_ref().filter(|(_, guard)| guard.admits(is)).map(|(target, _)| *target);
        }
    }

    /// Whether a match that has come here is complete, as nothing but optional variables are left.
    pub fn is_complete(&self, state: StateId, is: &impl Fn(Variable) -> bool) -> bool {
        let mut state = state;
        loop {
            match &self.states[state as usize].proceed {
                Some((END, guard)) => return guard.admits(is),
                Some((target, guard)) if guard.admits(is) => state = *target,
                _ => return false,
            }
        }
    }

    /// Puts the states of a variable before `next`; gives the first of them.
    fn prepend(&mut self, number: Variable, variable: &PatternVariable, next: StateId) -> StateId {
        let (least, most) = (variable.min.max(1), variable.max);
        if variable.is_greedy && most != Some(variable.min.max(1)) {
            // What follows leaves rows of this variable alone, even if it has as many as it can have.
            let State { take, proceed, .. } = &mut self.states[next as usize];
            take.iter_mut().chain(proceed).for_each(|(_, guard)| guard.is_not.push(number));
        }
        let take = |target| Some((target, Guard { is: Some(number), is_not: Vec::new() }));
        let on = || Some((next, Guard::default()));
        let mut behind = match most {
            Some(most) => {
                let mut behind = next;
                for _ in least..most {
                    behind = self.push(State { take: take(behind), proceed: on(), ..State::default() });
                }
                behind
            }
            None => {
                let own = self.states.len() as StateId;
                self.push(State { take: take(own), proceed: on(), ..State::default() })
            }
        };
        for _ in 1..least {
            behind = self.push(State { take: take(behind), ..State::default() });
        }
        let proceed = if variable.min == 0 { on() } else { None };
        self.push(State { take: take(behind), proceed, ..State::default() })
    }

    fn push(&mut self, state: State) -> StateId {
        self.states.push(state);
        (self.states.len() - 1) as StateId
    }

    fn questions_of(&self, state: StateId) -> Vec<Variable> {
        let mut questions: Vec<Variable> = Vec::new();
        let mut next = Some(state);
        while let Some(at) = next.take() {
            let State { take, proceed, .. } = &self.states[at as usize];
            questions.extend(take.iter().chain(proceed).flat_map(|(_, guard)| guard.variables()));
            // Behind the row, whether the match is complete.
            let mut behind = take.as_ref().map(|(target, _)| *target);
            while let Some(state) = behind.take() {
                let proceed = self.states[state as usize].proceed.as_ref();
                questions.extend(proceed.iter().flat_map(|(_, guard)| guard.variables()));
                behind = proceed.map(|(target, _)| *target);
            }
            next = proceed.as_ref().map(|(target, _)| *target);
        }
        questions.sort_unstable();
        questions.dedup();
        questions
    }
}
